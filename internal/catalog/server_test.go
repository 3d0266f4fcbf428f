package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	one = logicalcluster.MustParseName("one")
	two = logicalcluster.MustParseName("two")
)

// server serves a catalog over HTTP as pkg/server does: cluster from the URL, request
// info, warnings. Whatever the catalog does not serve is a 404 with the body "builtin".
type server struct {
	*catalog.Catalog
	t     testing.TB
	layer *storage.Layer
	http  *httptest.Server
}

type option func(*catalog.Config)

func newServer(t testing.TB, options ...option) *server {
	t.Helper()
	layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	source, err := catalog.EveryCluster(nil)
	if err != nil {
		t.Fatal(err)
	}
	config := catalog.Config{
		Stores:              layer,
		Source:              source,
		Admission:           admission.NewChainHandler(),
		Authorizer:          authorizerfactory.NewAlwaysAllowAuthorizer(),
		MinRequestTimeout:   time.Minute,
		MaxRequestBodyBytes: 3 << 20,
	}
	for _, option := range options {
		option(&config)
	}
	c, err := catalog.New(config)
	if err != nil {
		t.Fatal(err)
	}
	builtin := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "builtin", http.StatusNotFound)
	})
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("apis", "api"), GrouplessAPIPrefixes: sets.NewString("api")}
	handler := filters.WithAuditInit(filters.WithWarningRecorder(c.Handler(builtin)))
	handler = filters.WithRequestInfo(route.WithIdentity(handler, scheme.Codecs), resolver)
	s := &server{Catalog: c, t: t, layer: layer, http: httptest.NewServer(withCluster(handler))}
	t.Cleanup(s.http.CloseClientConnections)
	return s
}

func withCluster(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		rest, _ := strings.CutPrefix(req.URL.Path, "/clusters/")
		name, path, _ := strings.Cut(rest, "/")
		cluster := logicalcluster.Wildcard
		if name != "*" {
			cluster = logicalcluster.MustParseName(name)
		}
		req = req.WithContext(logicalcluster.NewContext(req.Context(), cluster))
		req.URL.Path = "/" + path
		next.ServeHTTP(w, req)
	})
}

// response is an answer; object is its body if that is an object.
type response struct {
	code     int
	body     string
	warnings []string
	object   unstructured.Unstructured
}

func (r response) String() string { return fmt.Sprintf("%d %s", r.code, r.body) }

// field returns the value at path as it prints, "<nil>" if there is none.
func (r response) field(path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(r.object.Object, path...)
	return fmt.Sprint(value)
}

type header struct{ key, value string }

func (s *server) do(method, path, body string, headers ...header) response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/yaml")
	}
	req.Header.Set("Accept", "application/json")
	for _, h := range headers {
		req.Header.Set(h.key, h.value)
	}
	resp, err := s.http.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	result := response{code: resp.StatusCode, body: string(data), warnings: resp.Header.Values("Warning")}
	_ = json.Unmarshal(data, &result.object.Object)
	return result
}

// must is do for requests that have to be answered with code.
func (s *server) must(code int, method, path, body string, headers ...header) response {
	s.t.Helper()
	r := s.do(method, path, body, headers...)
	if r.code != code {
		s.t.Fatalf("%s %s: got %s, want %d", method, path, r, code)
	}
	return r
}

// watch returns the events of a watch, which ends with the test.
func (s *server) watch(path string, headers ...header) <-chan metav1.WatchEvent {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, h := range headers {
		req.Header.Set(h.key, h.value)
	}
	resp, err := s.http.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("watching %s: %d %s", path, resp.StatusCode, body)
	}
	events := make(chan metav1.WatchEvent)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		decoder := json.NewDecoder(resp.Body)
		for {
			var event metav1.WatchEvent
			if decoder.Decode(&event) != nil {
				return
			}
			select {
			case events <- event:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events
}

// next returns the next event as "<type> <name>", "end" if there is none. Bookmarks that
// come when it is time for one are passed over.
func (s *server) next(events <-chan metav1.WatchEvent) string {
	s.t.Helper()
	select {
	case event, ok := <-events:
		if !ok {
			return "end"
		}
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(event.Object.Raw, &object); err != nil {
			s.t.Fatal(err)
		}
		if event.Type == string(watch.Bookmark) && object.Annotations[metav1.InitialEventsAnnotationKey] == "" {
			return s.next(events)
		}
		return strings.TrimSpace(event.Type + " " + object.Name)
	case <-time.After(time.Minute):
		s.t.Fatal("no event within a minute")
		return ""
	}
}

// define tells the catalog of the definition in testdata called name, established.
func (s *server) define(cluster logicalcluster.Name, name string, mutate ...func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	s.t.Helper()
	crd := readCRD(s.t, name)
	for _, m := range mutate {
		m(crd)
	}
	if err := s.Set(cluster, crd); err != nil {
		s.t.Fatal(err)
	}
	return crd
}

func readCRD(t testing.TB, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(bytes.TrimSpace(data), crd); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	crd.Status.AcceptedNames = crd.Spec.Names
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return crd
}

// eventually waits until condition returns an empty string; until then it says what
// is missing.
func eventually(t *testing.T, what string, condition func() string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		missing := condition()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s", what, missing)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// getLatest reads what was written last.
var getLatest = apistorage.GetOptions{}
