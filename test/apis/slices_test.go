package apis

import (
	"net/http"
	"testing"
)

var sliceBehaviors = map[string]behavior{"Permission": slicePermission, "Immutable": sliceImmutable}

func slice(name, path, export string) string {
	reference := `name: ` + export
	if path != "" {
		reference += `, path: "` + path + `"`
	}
	return `{apiVersion: apis.kcp.io/v1alpha1, kind: APIExportEndpointSlice, metadata: {name: ` + name + `}, spec: {export: {` + reference + `}}}`
}

func slicePermission(t *testing.T, s suite) {
	provider, other := s.workspace(t, bobName), s.workspace(t, aliceName)
	as(t, s.server, bob, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	c := as(t, s.server, alice, other.path)
	for reason, path := range map[string]string{"no permission": provider.path, "no workspace": "root:nowhere", "by cluster": provider.cluster} {
		a := c.must(http.StatusForbidden, "POST", v1+"/apiexportendpointslices", slice("a", path, "widgets"))
		want := `apiexportendpointslices.apis.kcp.io "a" is forbidden: unable to create APIExportEndpointSlice: no permission to bind to export ` + path + `:widgets`
		if got := a.object.Object["message"]; got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
	s.mayBind(t, provider, aliceName, "widgets")
	c.eventually(http.StatusCreated, "POST", v1+"/apiexportendpointslices", slice("a", provider.path, "widgets"))
	// In his own workspace he may do so before the export is there.
	c.must(http.StatusCreated, "POST", v1+"/apiexportendpointslices", slice("b", "", "later"))
}

func sliceImmutable(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v1+"/apiexportendpointslices", slice("a", "", "widgets"))
	c.must(http.StatusUnprocessableEntity, "PATCH", v1+"/apiexportendpointslices/a", `{spec: {export: {name: gadgets}}}`, "APIExport reference must not be changed")
	c.must(http.StatusOK, "PATCH", v1+"/apiexportendpointslices/a", `{spec: {partition: europe}}`)
}
