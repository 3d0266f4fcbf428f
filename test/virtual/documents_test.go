package virtual

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

var (
	allVerbs  = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	someVerbs = metav1.Verbs{"get", "patch", "update"}
)

// documents are what clients find out with.
var documents = map[string]behavior{
	"Discovery": {
		reason: "discovery shows what the export serves, in both forms, and nothing else",
		test: func(t *testing.T, s *suite) {
			want := map[string]metav1.Verbs{
				"wildwest.dev/v1 cowboys": allVerbs, "wildwest.dev/v1 cowboys/status": someVerbs, "wildwest.dev/v1 cowboys/scale": someVerbs,
				"v1 configmaps": allVerbs, "v1 secrets": allVerbs, "v1 serviceaccounts": allVerbs, "v1 events": allVerbs,
				"events.k8s.io/v1 events":                      allVerbs,
				"authorization.k8s.io/v1 subjectaccessreviews": {"create"},
				"apis.kcp.io/v1alpha1 apibindings":             {"get", "list", "watch"},
				"apis.kcp.io/v1alpha2 apibindings":             {"get", "list", "watch"},
			}
			for _, in := range []place{everywhere, s.first} {
				for _, legacy := range []bool{false, true} {
					client, err := discovery.NewDiscoveryClientForConfig(s.config(t, providing, s.provider, "wild.west", in))
					must(t, err)
					client.UseLegacyDiscovery = legacy
					_, lists, err := client.ServerGroupsAndResources()
					must(t, err)
					got := map[string]metav1.Verbs{}
					for _, list := range lists {
						for _, r := range list.APIResources {
							got[list.GroupVersion+" "+r.Name] = r.Verbs
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("in %s, legacy %t (-want +got):\n%s", in.name, legacy, diff)
					}
				}
			}
		},
	},
	"Core": {
		reason: "the core group has a version even if nothing of it is served",
		test: func(t *testing.T, s *suite) {
			provider := s.newPlace(t)
			s.provide(t, provider, cowboySchema, bareExport)
			at := services(provider, "bare", everywhere)
			for path, code := range map[string]int{"/api": http.StatusOK, "/api/v1": http.StatusOK, "/apis": http.StatusOK} {
				if got, body := s.get(t, providing, at+path); got != code {
					t.Errorf("%s: %d %s", path, got, body)
				}
			}
		},
	},
	"OpenAPI": {
		reason: "the schemas of what is served are there, of version 3 and no other",
		test: func(t *testing.T, s *suite) {
			at := services(s.provider, "wild.west", everywhere)
			code, body := s.get(t, providing, at+"/openapi/v3")
			var index struct {
				Paths map[string]struct{ ServerRelativeURL string }
			}
			if err := json.Unmarshal([]byte(body), &index); err != nil || code != http.StatusOK {
				t.Fatalf("%d %s", code, body)
			}
			for _, group := range []string{"version", "api/v1", "apis/wildwest.dev/v1", "apis/apis.kcp.io/v1alpha2", "apis/authorization.k8s.io/v1"} {
				if _, ok := index.Paths[group]; !ok {
					t.Errorf("the index has no %s", group)
				}
			}
			if _, ok := index.Paths["apis/rbac.authorization.k8s.io/v1"]; ok {
				t.Error("the index has a group of which nothing is served")
			}
			for group, want := range map[string]struct{ has, hasNot string }{
				"apis/wildwest.dev/v1": {"/apis/wildwest.dev/v1/namespaces/{namespace}/cowboys/{name}/scale", "/apis/wildwest.dev/v1/sheriffs"},
				"api/v1":               {"/api/v1/namespaces/{namespace}/configmaps/{name}", "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"},
			} {
				code, body := s.get(t, providing, at+index.Paths[group].ServerRelativeURL)
				var document struct{ Paths map[string]any }
				if err := json.Unmarshal([]byte(body), &document); err != nil || code != http.StatusOK {
					t.Fatalf("%s: %d %v", group, code, err)
				}
				if document.Paths[want.has] == nil || document.Paths[want.hasNot] != nil || document.Paths["/api/v1/namespaces"] != nil {
					paths := []string{}
					for path := range document.Paths {
						paths = append(paths, path)
					}
					slices.Sort(paths)
					t.Errorf("%s has %v", group, paths)
				}
			}
			if code, _ := s.get(t, providing, at+"/openapi/v2"); code != http.StatusNotFound {
				t.Errorf("/openapi/v2: %d", code)
			}
		},
	},
}

// bareExport claims nothing.
const bareExport = `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: bare}
spec:
  resources: [{name: cowboys, group: wildwest.dev, schema: today.cowboys.wildwest.dev}]
`
