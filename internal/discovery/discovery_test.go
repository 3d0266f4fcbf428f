package discovery_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apidiscovery "k8s.io/apiserver/pkg/endpoints/discovery"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/builtintest"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const aggregatedV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func TestAggregated(t *testing.T) {
	handler := newHandler(t, clusters{
		"aa": {widgets(t), served(definition(t, "example.com", "gadgets", "v1beta1", "v2", "v1"))},
		"bb": {terminating(widgets(t))},
	})
	cases := map[string]struct {
		reason  string
		cluster string
		groups  []string
	}{
		"NoCluster": {
			reason: "a request outside of any cluster sees the built-in groups, in Kubernetes' order",
			groups: builtinGroups,
		},
		"Wildcard": {
			reason:  "no definition is common to all clusters",
			cluster: "*",
			groups:  builtinGroups,
		},
		"Definitions": {
			reason:  "definitions follow the built-in groups, by name, their versions in Kubernetes' order",
			cluster: "aa",
			groups:  append(slices.Clone(builtinGroups), "example.com: v2 v1 v1beta1", "x.io: v1"),
		},
		"Other": {
			reason:  "another cluster shows what it serves itself",
			cluster: "bb",
			groups:  append(slices.Clone(builtinGroups), "x.io: v1"),
		},
		"Unknown": {
			reason:  "a cluster that does not exist is for authorization to refuse; it defines nothing",
			cluster: "nowhere",
			groups:  builtinGroups,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var list apidiscoveryv2.APIGroupDiscoveryList
			get(t, handler, tc.cluster, "/apis", aggregatedV2, &list)
			var groups []string
			for _, group := range list.Items {
				var versions []string
				for _, v := range group.Versions {
					versions = append(versions, v.Version)
				}
				groups = append(groups, group.Name+": "+strings.Join(versions, " "))
			}
			if diff := cmp.Diff(tc.groups, groups); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

var builtinGroups = []string{
	"events.k8s.io: v1", "authentication.k8s.io: v1", "authorization.k8s.io: v1", "certificates.k8s.io: v1",
	"rbac.authorization.k8s.io: v1", "admissionregistration.k8s.io: v1", "apiextensions.k8s.io: v1", "coordination.k8s.io: v1",
}

func TestLegacyResources(t *testing.T) {
	handler := newHandler(t, clusters{
		"aa": {widgets(t), served(definition(t, "", "services", "v1"))},
		"bb": {terminating(widgets(t))},
	})
	all := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	some := metav1.Verbs{"get", "patch", "update"}
	cases := map[string]struct {
		reason  string
		cluster string
		path    string
		keep    func(metav1.APIResource) bool
		want    []metav1.APIResource
	}{
		"Definition": {
			reason:  "a definition and its subresources look as upstream shows them",
			cluster: "aa", path: "/apis/x.io/v1",
			want: []metav1.APIResource{
				{
					Name: "widgets", SingularName: "widget", Namespaced: true, Kind: "Widget", Verbs: all,
					ShortNames: []string{"wd"}, Categories: []string{"all"},
					StorageVersionHash: apidiscovery.StorageVersionHash("x.io", "v1", "Widget"),
				},
				{Name: "widgets/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: some},
				{Name: "widgets/status", Namespaced: true, Kind: "Widget", Verbs: some},
			},
		},
		"Terminating": {
			reason:  "what is being deleted can be read and deleted, not made or changed",
			cluster: "bb", path: "/apis/x.io/v1",
			keep: func(r metav1.APIResource) bool { return r.Name == "widgets" },
			want: []metav1.APIResource{{
				Name: "widgets", SingularName: "widget", Namespaced: true, Kind: "Widget",
				Verbs:      metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"},
				ShortNames: []string{"wd"}, Categories: []string{"all"},
				StorageVersionHash: apidiscovery.StorageVersionHash("x.io", "v1", "Widget"),
			}},
		},
		"CoreGroup": {
			reason:  "definitions of the core group stand among the built-in resources, by name; the kind of a subresource may be of another group",
			cluster: "aa", path: "/api/v1",
			keep: func(r metav1.APIResource) bool { return strings.HasPrefix(r.Name, "service") },
			want: []metav1.APIResource{
				{
					Name: "serviceaccounts", SingularName: "serviceaccount", Namespaced: true, Kind: "ServiceAccount", Verbs: all,
					ShortNames: []string{"sa"}, StorageVersionHash: "pbx9ZvyFpBE=",
				},
				{Name: "serviceaccounts/token", Namespaced: true, Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest", Verbs: metav1.Verbs{"create"}},
				{Name: "services", SingularName: "service", Namespaced: true, Kind: "Service", Verbs: all, StorageVersionHash: "0/CO1lhkEBI="},
			},
		},
		"Events": {
			reason: "events of both groups are the same stored objects",
			path:   "/apis/events.k8s.io/v1",
			want: []metav1.APIResource{{
				Name: "events", SingularName: "event", Namespaced: true, Kind: "Event", Verbs: all,
				ShortNames: []string{"ev"}, StorageVersionHash: "r2yiGXH7wu8=",
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var list metav1.APIResourceList
			get(t, handler, tc.cluster, tc.path, "application/json", &list)
			got := list.APIResources
			if tc.keep != nil {
				got = slices.DeleteFunc(got, func(r metav1.APIResource) bool { return !tc.keep(r) })
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatusCodes(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {widgets(t)}})
	cases := map[string]struct {
		reason       string
		method, path string
		want         int
	}{
		"UnknownGroup":   {"a group that is not served is not found", "GET", "/apis/y.io", http.StatusNotFound},
		"UnknownVersion": {"nor is a version", "GET", "/apis/x.io/v2", http.StatusNotFound},
		"UnknownCore":    {"the core group has v1 only", "GET", "/api/v2", http.StatusNotFound},
		"Write":          {"documents cannot be written", "POST", "/apis", http.StatusMethodNotAllowed},
		"TrailingSlash":  {"a slash at the end makes no difference", "GET", "/apis/x.io/", http.StatusOK},
		"Object":         {"objects are served by others", "GET", "/apis/x.io/v1/widgets", http.StatusTeapot},
		"CoreObject":     {"objects of the core group too", "GET", "/api/v1/namespaces", http.StatusTeapot},
		"Elsewhere":      {"so is everything else", "GET", "/version", http.StatusTeapot},
		"EmptySegment":   {"a path that is not clean is no document's", "GET", "/apis//v1", http.StatusTeapot},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answer := call(handler, "aa", tc.method, tc.path, "", "")
			if answer.Code != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, answer.Code, tc.want)
			}
			if answer.Code == http.StatusNotFound {
				var status metav1.Status
				if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil {
					t.Fatalf("not a Status: %s", answer.Body)
				}
				if want := "the server could not find the requested resource"; status.Message != want || status.Reason != metav1.StatusReasonNotFound {
					t.Errorf("got %s %q, want NotFound %q", status.Reason, status.Message, want)
				}
			}
		})
	}
}

func TestETag(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {widgets(t)}, "bb": {widgets(t)}, "cc": nil})
	first := call(handler, "aa", "GET", "/apis", aggregatedV2, "")
	etag := first.Header().Get("ETag")
	for cluster, want := range map[string]int{"aa": http.StatusNotModified, "bb": http.StatusNotModified, "cc": http.StatusOK} {
		if got := call(handler, cluster, "GET", "/apis", aggregatedV2, etag).Code; got != want {
			t.Errorf("cluster %q asked with the ETag of %q answers %d, want %d: clusters share documents by content", cluster, "aa", got, want)
		}
	}
}

// TestConcurrently is for the race detector: a document is one for all requests, whatever
// version they ask for.
func TestConcurrently(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {widgets(t)}, "bb": {widgets(t)}})
	var requests sync.WaitGroup
	for range 8 {
		for _, version := range []string{"v2", "v2beta1"} {
			for _, cluster := range []string{"aa", "bb"} {
				requests.Go(func() {
					accept := "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList"
					var list apidiscoveryv2.APIGroupDiscoveryList
					answer := call(handler, cluster, "GET", "/apis", accept, "")
					if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
						t.Error(err)
					}
					if want := "apidiscovery.k8s.io/" + version; answer.Code == http.StatusOK && list.APIVersion != want {
						t.Errorf("got a document of %s, want %s", list.APIVersion, want)
					}
				})
			}
		}
	}
	requests.Wait()
}

func TestMediaTypes(t *testing.T) {
	handler := newHandler(t, clusters{})
	for accept, want := range map[string]string{
		"application/json":                    "application/json",
		"application/yaml":                    "application/yaml",
		"application/vnd.kubernetes.protobuf": "application/vnd.kubernetes.protobuf",
		aggregatedV2 + ",application/json":    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		"application/json;g=unknown;v=v2;as=APIGroupDiscoveryList,application/json": "application/json",
	} {
		for _, path := range []string{"/api", "/apis"} {
			answer := call(handler, "", "GET", path, accept, "")
			if got := answer.Header().Get("Content-Type"); answer.Code != http.StatusOK || got != want {
				t.Errorf("GET %s with Accept %q: %d, %q, want %q", path, accept, answer.Code, got, want)
			}
		}
	}
}

// TestClient lets the client that kubectl uses read both forms and expects the same.
func TestClient(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {widgets(t)}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, inCluster(req, "aa"))
	}))
	t.Cleanup(server.Close)

	client := clientdiscovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: server.URL})
	_, aggregated, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	client.UseLegacyDiscovery = true
	_, legacy, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(legacy), names(aggregated)); diff != "" {
		t.Errorf("both forms must say the same (-legacy +aggregated):\n%s", diff)
	}
	if all := names(aggregated); !slices.Contains(all, "x.io/v1 widgets/scale Scale") || !slices.Contains(all, "v1 configmaps ConfigMap") {
		t.Errorf("resources are missing: %v", all)
	}
}

func BenchmarkDocument(b *testing.B) {
	var definitions []schema.Served
	for i := range 30 {
		definitions = append(definitions, served(definition(b, "example.com", fmt.Sprintf("things%d", i), "v1")))
	}
	handler := newHandler(b, clusters{"aa": definitions})
	etag := call(handler, "aa", "GET", "/apis", aggregatedV2, "").Header().Get("ETag")
	b.Run("Full", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call(handler, "aa", "GET", "/apis", aggregatedV2, "")
		}
	})
	b.Run("NotModified", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call(handler, "aa", "GET", "/apis", aggregatedV2, etag)
		}
	})
}

func names(lists []*metav1.APIResourceList) []string {
	var names []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			names = append(names, fmt.Sprintf("%s %s %s", list.GroupVersion, resource.Name, resource.Kind))
		}
	}
	slices.Sort(names)
	return names
}

// clusters are definitions by cluster.
type clusters map[string][]schema.Served

func (c clusters) Definitions(cluster logicalcluster.Name) []schema.Served {
	return c[cluster.String()]
}

func newHandler(t testing.TB, definitions clusters) http.Handler {
	t.Helper()
	builtins := &discovery.Builtins{}
	builtintest.NewServer(t, builtintest.Config(), builtins)
	d := discovery.New(discovery.Config{Builtins: builtins, Definitions: definitions, Serializer: builtin.Codecs})
	return d.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
}

func get(t testing.TB, handler http.Handler, cluster, path, accept string, into any) {
	t.Helper()
	answer := call(handler, cluster, http.MethodGet, path, accept, "")
	if answer.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, answer.Code, answer.Body)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, answer.Body)
	}
}

func call(handler http.Handler, cluster, method, path, accept, etag string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, nil)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, inCluster(req, cluster))
	return recorder
}

func inCluster(req *http.Request, cluster string) *http.Request {
	switch cluster {
	case "":
		return req
	case "*":
		return req.WithContext(logicalcluster.NewContext(req.Context(), logicalcluster.Wildcard))
	}
	return req.WithContext(logicalcluster.NewContext(req.Context(), logicalcluster.MustParseName(cluster)))
}

func served(definition *schema.Definition) schema.Served {
	return schema.Served{Definition: definition, Identity: "customresources"}
}

func terminating(s schema.Served) schema.Served {
	s.Terminating = true
	return s
}

// widgets is a definition with everything discovery shows.
func widgets(t testing.TB) schema.Served {
	t.Helper()
	crd := crd("x.io", "widgets", "v1")
	crd.Status.AcceptedNames.ShortNames = []string{"wd"}
	crd.Status.AcceptedNames.Categories = []string{"all"}
	crd.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}
	return served(newDefinition(t, crd))
}

func definition(t testing.TB, group, plural string, versions ...string) *schema.Definition {
	t.Helper()
	return newDefinition(t, crd(group, plural, versions...))
}

func newDefinition(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) *schema.Definition {
	t.Helper()
	d, err := schema.New(crd)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func crd(group, plural string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.TrimSuffix(plural, "s")
	kind := strings.ToUpper(singular[:1]) + singular[1:]
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: singular, Kind: kind, ListKind: kind + "List"}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Names: names, Scope: apiextensionsv1.NamespaceScoped},
		Status:     apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: version, Served: true, Storage: i == 0})
	}
	return crd
}
