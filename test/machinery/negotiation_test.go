package machinery

import (
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	asTable    = ";as=Table;v=v1;g=meta.k8s.io"
	asMetadata = ";as=PartialObjectMetadata;g=meta.k8s.io;v="
	asList     = ";as=PartialObjectMetadataList;g=meta.k8s.io;v="
)

// TestMediaTypes: what cannot be had is refused with the list of what can.
func TestMediaTypes(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		w.must(http.StatusCreated, "POST", k.url, k.body("a", "1"))
		for reason, media := range map[string]string{
			"a type nobody knows":                "text/csv",
			"a form nobody knows":                "application/json;as=Novel;v=v1;g=meta.k8s.io",
			"a version of the form nobody knows": "application/json;as=Table;v=v9;g=meta.k8s.io",
			"a group of the form nobody knows":   "application/json;as=Table;v=v1;g=example.com",
		} {
			got := w.do("GET", k.url, "", accept(media))
			if got.code != http.StatusNotAcceptable || got.status().Reason != "NotAcceptable" || !strings.Contains(got.body, "application/json, application/yaml") {
				t.Errorf("%s: %s", reason, got)
			}
		}
		w.refused(http.StatusNotAcceptable, "NotAcceptable", "you requested PartialObjectMetadata, but the requested object is a list", "GET", k.url, "", accept("application/json"+asMetadata+"v1"))
		// The next best is taken.
		w.must(http.StatusOK, "GET", k.url, "", accept("text/csv, application/json;as=Novel;v=v1;g=meta.k8s.io, application/json"))
		if got := w.must(http.StatusOK, "GET", k.url, "", accept("application/yaml")); !strings.Contains(got.body, "items:\n") {
			t.Errorf("YAML = %s", got)
		}
		if got := w.must(http.StatusOK, "GET", k.url, "", accept("*/*")); got.header.Get("Content-Type") != asJSON {
			t.Errorf("content type = %s", got.header)
		}
		for method, url := range map[string]string{"POST": k.url, "PUT": k.url + "/a"} {
			w.refused(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "accepted media types include: application/json, application/yaml", method, url, "x", contentType("text/csv"))
		}
		patches := "accepted media types include: application/json-patch+json, application/merge-patch+json"
		if k.name == "Lease" {
			// Upstream's router refuses it before anybody knows which there are.
			patches = "Unsupported Media Type"
		}
		w.refused(http.StatusUnsupportedMediaType, "UnsupportedMediaType", patches, "PATCH", k.url+"/a", "x", contentType("text/csv"))
		if got := w.do("PATCH", k.url+"/a", `{}`, contentType(smart)); (got.code == http.StatusOK) != (k.name == "Lease") {
			t.Errorf("strategic merge patches are for built-in kinds alone, got %s", got)
		}
		// Custom resources have no protobuf, built-in ones do.
		if got := w.do("GET", k.url, "", accept(proto)); (got.code == http.StatusOK) != (k.name == "Lease") {
			t.Errorf("protobuf: %d", got.code)
		}
		if got := w.do("GET", k.url, "", accept(proto+asList+"v1")); got.code != http.StatusOK || !strings.HasPrefix(got.body, "k8s\x00") {
			t.Errorf("metadata in protobuf: %d", got.code)
		}
	})
}

func TestPartialMetadata(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		w.must(http.StatusCreated, "POST", k.url, k.body("a", "1"))
		for _, version := range []string{"v1", "v1beta1"} {
			one := w.must(http.StatusOK, "GET", k.url+"/a", "", accept("application/json"+asMetadata+version))
			if one.field("kind") != "PartialObjectMetadata" || one.field("apiVersion") != "meta.k8s.io/"+version || one.field(k.path) != "<nil>" || one.object.GetLabels()["value"] != "1" {
				t.Errorf("one object: %s", one)
			}
			list := w.must(http.StatusOK, "GET", k.url, "", accept("application/json"+asList+version))
			if list.field("kind") != "PartialObjectMetadataList" || list.field("metadata.resourceVersion") == "<nil>" || list.names() != "a" || strings.Contains(list.body, `"spec"`) || strings.Contains(list.body, `"data"`) {
				t.Errorf("list: %s", list)
			}
			for media, query := range map[string]string{
				"application/json" + asMetadata + version: "?watch=true",
			} {
				events := w.watch(k.url+query, accept(media))
				if e := events.next(); e.String() != "ADDED a" || e.Object.GetKind() != "PartialObjectMetadata" || field(&e.Object, k.path) != "<nil>" {
					t.Errorf("event = %v", e)
				}
				w.must(http.StatusOK, "PATCH", k.url+"/a", k.merged("1"), contentType(merge))
				w.must(http.StatusOK, "PATCH", k.url+"/a", `{"metadata":{"annotations":{"version":"`+version+`"}}}`, contentType(merge))
				if e := events.next(); e.String() != "MODIFIED a" || e.Object.GetAnnotations()["version"] != version {
					t.Errorf("event = %v", e)
				}
			}
		}
	})
}

func TestTables(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		w.must(http.StatusCreated, "POST", k.url, k.body("a", "1"))
		for include, want := range map[string]string{"": "PartialObjectMetadata", "Metadata": "PartialObjectMetadata", "Object": k.name, "None": "<nil>"} {
			query := ""
			if include != "" {
				query = "?includeObject=" + include
			}
			for _, url := range []string{k.url, k.url + "/a"} {
				table := w.must(http.StatusOK, "GET", url+query, "", accept("application/json"+asTable))
				rows := maps(table, "rows")
				if table.field("kind") != "Table" || table.field("apiVersion") != "meta.k8s.io/v1" || len(rows) != 1 || len(maps(table, "columnDefinitions")) < 2 {
					t.Fatalf("table = %s", table)
				}
				object, _ := rows[0]["object"].(map[string]any)
				if got := orNil(object["kind"]); got != want {
					t.Errorf("includeObject=%s shows %s, want %s", include, got, want)
				}
			}
		}
		w.refused(http.StatusBadRequest, "BadRequest", "includeObject", "GET", k.url+"?includeObject=Everything", "", accept("application/json"+asTable))
		events := w.watch(k.url+"?watch=true", accept("application/json"+asTable))
		first := events.next()
		if first.Type != "ADDED" || first.Object.GetKind() != "Table" || field(&first.Object, "columnDefinitions") == "<nil>" {
			t.Errorf("event = %v", first)
		}
		w.must(http.StatusOK, "PATCH", k.url+"/a", k.merged("2"), contentType(merge))
		// Only the first table of a watch says what its columns are.
		if e := events.next(); e.Type != "MODIFIED" || e.Object.GetKind() != "Table" || strings.Contains(field(&e.Object, "columnDefinitions"), "Name") {
			t.Errorf("event = %v", e)
		}
	})

	// A review has no metadata.
	w := newWorkspace(t, servertest.Start(t))
	review := `{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: get, resource: pods}}}`
	w.refused(http.StatusNotAcceptable, "NotAcceptable", "", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, accept("application/json"+asTable))
}

func orNil(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return "<nil>"
}
