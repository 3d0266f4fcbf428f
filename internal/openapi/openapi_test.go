package openapi_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clientdiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/builtintest"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	pbV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	pbV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

func TestV2(t *testing.T) {
	handler := newHandler(t, clusters{
		"widgets": {definition(t, "x.io", "widgets", "v1", "v2")},
		"core":    {definition(t, "", "services", "v1")},
	})
	cases := map[string]struct {
		reason  string
		cluster string
		paths   []string
		absent  []string
		schemas []string
	}{
		"NoCluster": {
			reason: "outside of any cluster there are the built-in APIs",
			paths:  []string{"/api/v1/namespaces/{namespace}/configmaps"}, absent: []string{"/apis/x.io/v1/widgets"},
			schemas: []string{"io.k8s.api.core.v1.ConfigMap", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"},
		},
		"Wildcard": {
			reason: "the same holds for all clusters together", cluster: "*",
			paths: []string{"/apis/rbac.authorization.k8s.io/v1/clusterroles"}, absent: []string{"/apis/x.io/v1/widgets"},
		},
		"Definitions": {
			reason: "all versions of a definition are described beside the built-in APIs", cluster: "widgets",
			paths:   []string{"/apis/x.io/v1/widgets", "/apis/x.io/v2/namespaces/{namespace}/widgets/{name}", "/api/v1/namespaces"},
			schemas: []string{"io.x.v1.Widget", "io.x.v2.WidgetList", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
		},
		"CoreGroup": {
			reason: "definitions of the core group are described where they are served", cluster: "core",
			paths: []string{"/api/v1/namespaces/{namespace}/services"}, absent: []string{"/apis//v1/services"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var swagger spec.Swagger
			if err := json.Unmarshal(body(t, call(handler, tc.cluster, "/openapi/v2", nil)), &swagger); err != nil {
				t.Fatal(err)
			}
			for _, path := range tc.paths {
				if _, ok := swagger.Paths.Paths[path]; !ok {
					t.Errorf("%s: path %s is missing", tc.reason, path)
				}
			}
			for _, path := range tc.absent {
				if _, ok := swagger.Paths.Paths[path]; ok {
					t.Errorf("%s: path %s is there", tc.reason, path)
				}
			}
			for _, schema := range tc.schemas {
				if _, ok := swagger.Definitions[schema]; !ok {
					t.Errorf("%s: schema %s is missing", tc.reason, schema)
				}
			}
			document := &openapi_v2.Document{}
			if err := proto.Unmarshal(body(t, call(handler, tc.cluster, "/openapi/v2", http.Header{"Accept": {pbV2}})), document); err != nil {
				t.Fatal(err)
			}
			if got, want := len(document.Paths.Path), len(swagger.Paths.Paths); got != want {
				t.Errorf("protobuf has %d paths, JSON %d", got, want)
			}
		})
	}
}

// TestReferences looks for schemas that are referred to and not there: clients give up a
// document for one of them.
func TestReferences(t *testing.T) {
	handler := newHandler(t, clusters{"all": {
		definition(t, "", "services", "v1"), definition(t, "x.io", "widgets", "v1"), definition(t, "coordination.k8s.io", "locks", "v1"),
	}})
	paths := []string{"/openapi/v2"}
	for _, item := range index(t, handler, "all").Paths {
		paths = append(paths, item.ServerRelativeURL)
	}
	for _, path := range paths {
		var document struct {
			Definitions map[string]any
			Components  struct{ Schemas map[string]any }
		}
		content := body(t, call(handler, "all", path, nil))
		if err := json.Unmarshal(content, &document); err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(content), `"$ref":"#/`) {
			if i == 0 {
				continue
			}
			name := part[:strings.IndexByte(part, '"')]
			if rest, ok := strings.CutPrefix(name, "definitions/"); ok && document.Definitions[rest] == nil {
				t.Errorf("%s refers to %s", path, name)
			}
			if rest, ok := strings.CutPrefix(name, "components/schemas/"); ok && document.Components.Schemas[rest] == nil {
				t.Errorf("%s refers to %s", path, name)
			}
		}
	}
}

func TestV3Index(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {definition(t, "x.io", "widgets", "v1")}, "bb": {definition(t, "x.io", "widgets", "v1")}, "cc": nil})
	aa, bb, cc := index(t, handler, "aa"), index(t, handler, "bb"), index(t, handler, "cc")
	var groups []string
	for group := range aa.Paths {
		groups = append(groups, group)
	}
	slices.Sort(groups)
	want := []string{
		"api", "api/v1", "apis/admissionregistration.k8s.io", "apis/admissionregistration.k8s.io/v1",
		"apis/apiextensions.k8s.io", "apis/apiextensions.k8s.io/v1", "apis/authentication.k8s.io", "apis/authentication.k8s.io/v1",
		"apis/authorization.k8s.io", "apis/authorization.k8s.io/v1", "apis/certificates.k8s.io", "apis/certificates.k8s.io/v1",
		"apis/coordination.k8s.io", "apis/coordination.k8s.io/v1", "apis/events.k8s.io", "apis/events.k8s.io/v1",
		"apis/rbac.authorization.k8s.io", "apis/rbac.authorization.k8s.io/v1", "apis/x.io/v1", "version",
	}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("the index lists everything that is served (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(aa, bb); diff != "" {
		t.Errorf("clusters with the same content share documents (-aa +bb):\n%s", diff)
	}
	if _, ok := cc.Paths["apis/x.io/v1"]; ok {
		t.Error("a definition of one cluster shows in another")
	}
	if aa.Paths["api/v1"] != cc.Paths["api/v1"] {
		t.Error("a definition changes the hash of a document it is not in")
	}
}

func TestV3Documents(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {
		definition(t, "", "services", "v1"), definition(t, "x.io", "gadgets", "v1"), definition(t, "x.io", "widgets", "v1"),
	}})
	cases := map[string]struct {
		reason string
		path   string
		kinds  []string
	}{
		"BuiltIn":     {"built-in groups are described", "/openapi/v3/apis/rbac.authorization.k8s.io/v1", []string{"ClusterRole", "RoleBinding"}},
		"Definitions": {"definitions of one group version share a document", "/openapi/v3/apis/x.io/v1", []string{"Gadget", "Widget"}},
		"CoreGroup":   {"definitions of the core group join the built-in types", "/openapi/v3/api/v1", []string{"ConfigMap", "Service"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]bool{}
			var document struct {
				Components struct {
					Schemas map[string]struct {
						GVK []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
					}
				}
			}
			if err := json.Unmarshal(body(t, call(handler, "aa", tc.path, nil)), &document); err != nil {
				t.Fatal(err)
			}
			for _, schema := range document.Components.Schemas {
				for _, gvk := range schema.GVK {
					kinds[gvk.Kind] = true
				}
			}
			for _, kind := range tc.kinds {
				if !kinds[kind] {
					t.Errorf("%s: kind %s is missing", tc.reason, kind)
				}
			}
			pb := &openapi_v3.Document{}
			if err := proto.Unmarshal(body(t, call(handler, "aa", tc.path, http.Header{"Accept": {pbV3}})), pb); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	handler := newHandler(t, clusters{"aa": {definition(t, "x.io", "widgets", "v1")}})
	url := index(t, handler, "aa").Paths["apis/x.io/v1"].ServerRelativeURL
	etag := call(handler, "aa", url, nil).Header().Get("ETag")
	v2 := call(handler, "aa", "/openapi/v2", nil).Header().Get("ETag")
	cases := map[string]struct {
		reason   string
		cluster  string
		path     string
		header   http.Header
		code     int
		contains map[string]string
	}{
		"Hash":         {"what has a hash in its URL never changes", "aa", url, nil, 200, map[string]string{"Cache-Control": "public, immutable"}},
		"NoHash":       {"what has none may", "aa", "/openapi/v3/apis/x.io/v1", nil, 200, map[string]string{"Cache-Control": ""}},
		"WrongHash":    {"an outdated hash leads to the present one, below the same prefix", "aa", "/openapi/v3/apis/x.io/v1?hash=1", nil, 301, map[string]string{"Location": "?hash=" + strings.Trim(etag, `"`)}},
		"NotModified":  {"who has the document is told so", "aa", url, http.Header{"If-None-Match": {etag}}, 304, nil},
		"WeakETag":     {"proxies that compress make ETags weak", "aa", url, http.Header{"If-None-Match": {`"0", W/` + etag}}, 304, nil},
		"V2Unmodified": {"so for v2", "aa", "/openapi/v2", http.Header{"If-None-Match": {v2}}, 304, nil},
		"Unacceptable": {"no other format is offered", "aa", url, http.Header{"Accept": {"text/html"}}, 406, nil},
		"Unknown":      {"a group version that is not served has no document", "aa", "/openapi/v3/apis/y.io/v1", nil, 404, nil},
		"NoCluster":    {"v3 describes one cluster", "", "/openapi/v3", nil, 404, nil},
		"Wildcard":     {"not all of them", "*", url, nil, 404, nil},
		"Elsewhere":    {"other paths are not ours", "aa", "/openapi/v4", nil, 418, nil},
		"Gzip":         {"documents are sent compressed", "aa", url, http.Header{"Accept-Encoding": {"gzip"}}, 200, map[string]string{"Content-Encoding": "gzip"}},
		"NoGzip":       {"unless the client refuses", "aa", url, http.Header{"Accept-Encoding": {"gzip;q=0"}}, 200, map[string]string{"Content-Encoding": ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answer := call(handler, tc.cluster, tc.path, tc.header)
			if answer.Code != tc.code {
				t.Errorf("%s: got %d, want %d: %s", tc.reason, answer.Code, tc.code, answer.Body)
			}
			for header, want := range tc.contains {
				if got := answer.Header().Get(header); got != want {
					t.Errorf("%s: %s is %q, want %q", tc.reason, header, got, want)
				}
			}
		})
	}
}

// TestBadDefinition proves that one definition cannot take the others' documents away.
func TestBadDefinition(t *testing.T) {
	bad := definition(t, "x.io", "broken", "v1")
	// Validation lets no such default through; it stands for whatever upstream rejects.
	bad.Definition.CRD.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{
		Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte("{")},
	}
	handler := newHandler(t, clusters{"aa": {bad, definition(t, "x.io", "widgets", "v1")}})
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/x.io/v1"} {
		if content := body(t, call(handler, "aa", path, nil)); !strings.Contains(string(content), "Widget") {
			t.Errorf("%s lacks the other definition", path)
		}
	}
}

// TestClient reads every document with the client that kubectl uses.
func TestClient(t *testing.T) {
	definitions := clusters{"aa": {definition(t, "x.io", "widgets", "v1")}}
	handler := newHandler(t, definitions)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req = inCluster(req, "aa")
		path, ok := strings.CutPrefix(req.URL.Path, "/clusters/aa")
		if !ok {
			t.Errorf("the client has lost the prefix: %s", req.URL.Path)
		}
		req.URL.Path = path
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)

	client := clientdiscovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: server.URL + "/clusters/aa"})
	root := openapi3.NewRoot(client.OpenAPIV3())
	groups, err := root.GroupVersions()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(groups, apischema.GroupVersion{Group: "x.io", Version: "v1"}) {
		t.Errorf("x.io/v1 is missing in %v", groups)
	}
	for _, group := range groups {
		if _, err := root.GVSpec(group); err != nil {
			t.Errorf("%s: %v", group, err)
		}
	}
	if _, err := client.OpenAPISchema(); err != nil {
		t.Errorf("v2: %v", err)
	}
}

func BenchmarkV3Index(b *testing.B) {
	handler := newHandler(b, clusters{"aa": many(b, 30)})
	for b.Loop() {
		call(handler, "aa", "/openapi/v3", nil)
	}
}

func BenchmarkV3Build(b *testing.B) {
	sets := clusters{}
	all := many(b, 30)
	for i := range all {
		sets[fmt.Sprintf("cluster%d", i)] = all[:i+1]
	}
	handler := newHandler(b, sets)
	i := 0
	for b.Loop() {
		call(handler, fmt.Sprintf("cluster%d", i%30), "/openapi/v3/apis/x.io/v1", nil)
		i++
	}
}

func BenchmarkV2Build(b *testing.B) {
	for name, accept := range map[string]string{"JSON": "application/json", "Protobuf": pbV2} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				handler := newHandler(b, clusters{"aa": many(b, 3)})
				b.StartTimer()
				answer := call(handler, "aa", "/openapi/v2", http.Header{"Accept": {accept}, "Accept-Encoding": {"gzip"}})
				b.ReportMetric(float64(answer.Body.Len()), "bytes")
			}
		})
	}
}

func many(t testing.TB, n int) []schema.Served {
	var all []schema.Served
	for i := range n {
		all = append(all, definition(t, "x.io", fmt.Sprintf("thing%ds", i), "v1"))
	}
	return all
}

// clusters are definitions by cluster.
type clusters map[string][]schema.Served

func (c clusters) Definitions(cluster logicalcluster.Name) []schema.Served {
	return c[cluster.String()]
}

func newHandler(t testing.TB, definitions clusters) http.Handler {
	t.Helper()
	server := builtintest.NewServer(t, builtintest.Config(), &builtintest.Recorder{})
	o := openapi.New(openapi.Config{
		Routes:      server.Handler.GoRestfulContainer.RegisteredWebServices,
		V2:          builtin.TypesOf(false).OpenAPIConfig("Kubernetes", "v1"),
		V3:          builtin.TypesOf(false).OpenAPIV3Config("Kubernetes", "v1"),
		Definitions: definitions,
	})
	return o.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
}

func index(t testing.TB, handler http.Handler, cluster string) handler3.OpenAPIV3Discovery {
	t.Helper()
	var index handler3.OpenAPIV3Discovery
	if err := json.Unmarshal(body(t, call(handler, cluster, "/openapi/v3", nil)), &index); err != nil {
		t.Fatal(err)
	}
	return index
}

func call(handler http.Handler, cluster, path string, header http.Header) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	if header != nil {
		req.Header = header
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, inCluster(req, cluster))
	return recorder
}

func body(t testing.TB, answer *httptest.ResponseRecorder) []byte {
	t.Helper()
	if answer.Code != http.StatusOK {
		t.Fatalf("got %d: %s", answer.Code, answer.Body)
	}
	var reader io.Reader = answer.Body
	if answer.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if reader, err = gzip.NewReader(reader); err != nil {
			t.Fatal(err)
		}
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func inCluster(req *http.Request, cluster string) *http.Request {
	name := logicalcluster.Wildcard
	switch cluster {
	case "":
		return req
	case "*":
	default:
		name = logicalcluster.MustParseName(cluster)
	}
	return req.WithContext(logicalcluster.NewContext(req.Context(), name))
}

func definition(t testing.TB, group, plural string, versions ...string) schema.Served {
	t.Helper()
	singular := strings.TrimSuffix(plural, "s")
	kind := strings.ToUpper(singular[:1]) + singular[1:]
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: singular, Kind: kind, ListKind: kind + "List"}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec:       apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Names: names, Scope: apiextensionsv1.NamespaceScoped},
		Status:     apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Description: kind + " is made for tests",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer", Description: "How big it is"}}},
				},
			}},
		})
	}
	d, err := schema.New(crd)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Served{Definition: d, Identity: "customresources"}
}
