package lifecycle

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// documents are what clients find out about the virtual workspaces.
var documents = map[string]behavior{
	"All": {
		reason: "40: over all clusters there are logical clusters and their status, and nothing else, in both forms of discovery",
		test: func(t *testing.T, s *suite) {
			for _, kind := range []string{initializing, ending} {
				s.checkDocuments(t, s.at(kind, "first", everywhere))
				client, err := discovery.NewDiscoveryClientForConfig(s.config(t, first, kind, "first", everywhere))
				must(t, err)
				groups, lists, err := client.ServerGroupsAndResources()
				must(t, err)
				if !slices.ContainsFunc(groups, func(g *metav1.APIGroup) bool { return g.Name == "core.kcp.io" }) {
					t.Errorf("%s: groups %v", kind, groups)
				}
				var found []string
				for _, list := range lists {
					for _, r := range list.APIResources {
						found = append(found, list.GroupVersion+" "+r.Name)
						if r.Name == "logicalclusters" && (!slices.Equal(r.Verbs, []string{"get", "list", "watch"}) || !slices.Contains(r.Categories, "kcp")) {
							t.Errorf("%s: %+v", kind, r)
						}
					}
				}
				slices.Sort(found)
				if !slices.Equal(found, []string{"core.kcp.io/v1alpha1 logicalclusters", "core.kcp.io/v1alpha1 logicalclusters/status"}) {
					t.Errorf("%s: found %v", kind, found)
				}
			}
		},
	},
	"Terminating": {
		reason: "what ends is shown to its terminator as logical clusters alone, in a single cluster, too",
		test: func(t *testing.T, s *suite) {
			ws := s.dying(t, "first")
			s.checkDocuments(t, s.at(ending, "first", ws.Spec.Cluster))
		},
	},
	"OpenAPI": {
		reason: "kubectl finds the schema",
		test: func(t *testing.T, s *suite) {
			got := s.send(t, first, http.MethodGet, s.at(initializing, "first", everywhere)+"/openapi/v3/apis/core.kcp.io/v1alpha1", "", nil)
			if got.code != http.StatusOK || !strings.Contains(got.body, "logicalclusters") || strings.Contains(got.body, `"/apis/core.kcp.io/v1alpha1/shards"`) {
				t.Errorf("got %d", got.code)
			}
		},
	},
}

// checkDocuments checks the unaggregated documents below a path.
func (s *suite) checkDocuments(t *testing.T, at string) {
	t.Helper()
	get := func(path string, into any) {
		t.Helper()
		got := s.send(t, first, http.MethodGet, at+path, "", map[string]string{"Accept": "application/json"})
		if got.code != http.StatusOK {
			t.Fatalf("%s: got %d %s", path, got.code, got.body)
		}
		must(t, json.Unmarshal([]byte(got.body), into))
	}
	var groups metav1.APIGroupList
	get("/apis", &groups)
	if len(groups.Groups) != 1 || groups.Groups[0].Name != "core.kcp.io" || len(groups.Groups[0].Versions) != 1 {
		t.Errorf("groups %+v", groups.Groups)
	}
	var resources metav1.APIResourceList
	get("/apis/core.kcp.io/v1alpha1", &resources)
	var names []string
	for _, r := range resources.APIResources {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"logicalclusters", "logicalclusters/status"}) {
		t.Errorf("resources %v", names)
	}
	var core metav1.APIResourceList
	get("/api/v1", &core)
	if len(core.APIResources) != 0 {
		t.Errorf("the core group has %v", core.APIResources)
	}
}
