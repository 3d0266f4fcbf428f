package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var discovery = map[string]behavior{
	"BuiltIn":           {"these resources, with these verbs, are in every workspace, and no others", builtIn},
	"OpenAPIGroups":     {"the index of OpenAPI names built-in groups and our own", openAPIGroups},
	"OwnDefinitions":    {"a workspace shows its own definitions, and not its neighbor's", ownDefinitions},
	"SameName":          {"neighbors may have the same name for different things", sameName},
	"PluralClusters":    {"a resource may be called as the prefix of our URLs is", pluralClusters},
	"ReservedGroups":    {"definitions in groups of the system are refused", reservedGroups},
	"NothingToDiscover": {"a workspace without access shows nothing, not even its groups", nothingToDiscover},
}

// Sets of verbs.
const (
	all          = "create delete deletecollection get list patch update watch"
	notAllAtOnce = "create delete get list patch update watch"
	status       = "get patch update"
)

// builtIns are the built-in resources by group and version, as "name verbs".
var builtIns = map[string][]string{
	"v1": {
		"configmaps " + all, "events " + all, "namespaces " + notAllAtOnce, "namespaces/finalize update", "namespaces/status " + status,
		"resourcequotas " + all, "resourcequotas/status " + status, "secrets " + all, "serviceaccounts " + all,
		"serviceaccounts/token create",
	},
	"admissionregistration.k8s.io/v1": {
		"mutatingadmissionpolicies " + all, "mutatingadmissionpolicybindings " + all, "mutatingwebhookconfigurations " + all,
		"validatingadmissionpolicies " + all, "validatingadmissionpolicies/status " + status, "validatingadmissionpolicybindings " + all,
		"validatingwebhookconfigurations " + all,
	},
	"apiextensions.k8s.io/v1":  {"customresourcedefinitions " + all, "customresourcedefinitions/status " + status},
	"authentication.k8s.io/v1": {"selfsubjectreviews create", "tokenreviews create"},
	"authorization.k8s.io/v1": {
		"localsubjectaccessreviews create", "selfsubjectaccessreviews create", "selfsubjectrulesreviews create", "subjectaccessreviews create",
	},
	"certificates.k8s.io/v1": {
		"certificatesigningrequests " + all, "certificatesigningrequests/approval " + status, "certificatesigningrequests/status " + status,
	},
	"coordination.k8s.io/v1": {"leases " + all},
	"events.k8s.io/v1":       {"events " + all},
	"rbac.authorization.k8s.io/v1": {
		"clusterrolebindings " + all, "clusterroles " + all, "rolebindings " + all, "roles " + all,
	},
}

func builtIn(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	_, lists, err := inside.kube().Discovery().ServerGroupsAndResources()
	ok(t, err)
	found := map[string][]string{}
	for _, list := range lists {
		if strings.Contains(list.GroupVersion, "kcp.io/") {
			continue
		}
		for _, resource := range list.APIResources {
			verbs := slices.Sorted(slices.Values([]string(resource.Verbs)))
			found[list.GroupVersion] = append(found[list.GroupVersion], resource.Name+" "+strings.Join(verbs, " "))
		}
		slices.Sort(found[list.GroupVersion])
	}
	if diff := cmp.Diff(builtIns, found); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func openAPIGroups(t *testing.T, s *suite) {
	type index struct {
		Paths map[string]any `json:"paths"`
	}
	inside := s.as(t, alice, s.universal(t, aliceName))
	paths := read[index](t, inside.get("/openapi/v3")).Paths
	for _, want := range []string{
		"api/v1", "apis/tenancy.kcp.io/v1alpha1", "apis/core.kcp.io/v1alpha1", "apis/topology.kcp.io/v1alpha1", "apis/rbac.authorization.k8s.io/v1",
	} {
		if paths[want] == nil {
			t.Errorf("%s is not among %d paths", want, len(paths))
		}
		got(t, inside.get("/openapi/v3/"+want), 200, `"openapi"`)
	}
}

func ownDefinitions(t *testing.T, s *suite) {
	d := definition{group: "own.example.com", plural: "widgets", kind: "Widget"}
	with, without := s.as(t, alice, s.universal(t, aliceName)), s.as(t, alice, s.universal(t, aliceName))
	with.define(d)
	for _, path := range []string{"/apis", "/openapi/v3", "/openapi/v2"} {
		eventually(t, "the definition is in "+path, func() error {
			if a := with.get(path); !strings.Contains(a.body, d.group) {
				return fmt.Errorf("it is not in %d bytes", len(a.body))
			}
			return nil
		})
		if a := without.get(path); a.code != http.StatusOK || strings.Contains(a.body, d.group) {
			t.Errorf("the neighbor sees it in %s: %d", path, a.code)
		}
	}
	got(t, without.get(d.url("")), 404)
}

func sameName(t *testing.T, s *suite) {
	d := definition{group: "same.example.com", plural: "widgets", kind: "Widget"}
	for _, of := range []struct{ field, kind, value string }{{"size", "integer", "3"}, {"color", "string", `"red"`}} {
		inside := s.as(t, alice, s.universal(t, aliceName))
		d.properties = map[string]string{of.field: of.kind}
		inside.define(d)
		created := read[unstructured.Unstructured](t, inside.do(http.MethodPost, d.url(""), `{"apiVersion":"same.example.com/v1","kind":"Widget",`+
			`"metadata":{"name":"one"},"spec":{"`+of.field+`":`+of.value+`,"unknown":1}}`))
		spec, _, _ := unstructured.NestedMap(created.Object, "spec")
		if len(spec) != 1 || spec[of.field] == nil {
			t.Errorf("the spec is %v, want %s only", spec, of.field)
		}
		got(t, inside.do(http.MethodPost, d.url(""), `{"apiVersion":"same.example.com/v1","kind":"Widget",`+
			`"metadata":{"name":"two"},"spec":{"`+of.field+`":[]}}`), 422, "spec."+of.field)
	}
}

func pluralClusters(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	for _, namespaced := range []bool{false, true} {
		d := definition{group: fmt.Sprintf("namespaced-%t.example.com", namespaced), plural: "clusters", kind: "Cluster", namespaced: namespaced}
		inside.define(d)
		ok(t, inside.createObject(d, "one"))
		url := d.url("")
		if namespaced {
			url = d.url("default")
		}
		got(t, inside.get(url+"/one"), 200, d.group)
		patched := inside.do(http.MethodPatch, url+"/one/status", `{"status":{"said":"hello"}}`, "Content-Type: application/merge-patch+json")
		got(t, patched, 200, "hello")
		got(t, inside.get(url+"/one/status"), 200, "hello")
	}
}

func reservedGroups(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	refused(t, inside.tryDefine(definition{group: "x.apis.kcp.io", plural: "widgets", kind: "Widget"}), 403)
	refused(t, inside.tryDefine(definition{
		group: "example.com", plural: "widgets", kind: "Widget", annotations: map[string]string{"apis.kcp.io/x": "y"},
	}), 403)
}

func nothingToDiscover(t *testing.T, s *suite) {
	path := s.universal(t)
	for _, token := range []string{"", alice} {
		for _, url := range []string{"/api", "/apis", "/api/v1", "/apis/tenancy.kcp.io", "/apis/tenancy.kcp.io/v1alpha1", "/version", "/openapi/v2", "/openapi/v3"} {
			got(t, s.as(t, token, path).get(url), 403, "access denied")
		}
	}
}
