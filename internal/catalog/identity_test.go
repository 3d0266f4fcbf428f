package catalog_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var three = logicalcluster.MustParseName("three")

// identityOf is the identity that exports with a certain key have.
func identityOf(key string) string { return strings.Repeat(key, 64/len(key)) }

// bind tells the catalog that a cluster has bound the definition in testdata called name
// from an export with an identity.
func (s *server) bind(cluster logicalcluster.Name, name, identity string, mutate ...func(*apiextensionsv1.CustomResourceDefinition)) {
	s.t.Helper()
	crd := readCRD(s.t, name)
	for _, m := range mutate {
		m(crd)
	}
	definition, err := schema.New(crd)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Bind(cluster, name, 1, []schema.Served{{
		Definition: definition, Identity: identity,
		Export: schema.Export{Cluster: logicalcluster.Root, Name: name, IdentityHash: identity},
	}})
}

// in returns the URL of widgets in a cluster, of any namespace unless one is given.
func in(cluster, identity, namespace string) string {
	url := "/clusters/" + cluster + "/apis/example.com/v1/"
	if namespace != "" {
		url += "namespaces/" + namespace + "/"
	}
	if identity != "" {
		identity = ":" + identity
	}
	return url + "widgets" + identity
}

// listed returns the clusters and names of what a list has, and its version.
func (s *server) listed(url string, headers ...header) (names []string, version string) {
	s.t.Helper()
	list := s.must(http.StatusOK, "GET", url, "", headers...)
	// An empty list may have null for its items.
	items, _ := list.object.Object["items"].([]any)
	for _, item := range items {
		object := unstructured.Unstructured{Object: item.(map[string]any)}
		names = append(names, object.GetAnnotations()[logicalcluster.AnnotationKey]+"/"+object.GetName())
	}
	slices.Sort(names)
	return names, list.object.GetResourceVersion()
}

func TestIdentities(t *testing.T) {
	s := newServer(t)
	a, b := identityOf("a"), identityOf("b")
	s.bind(one, "widgets", a)
	s.bind(two, "widgets", b)
	s.bind(three, "widgets", a)
	four := logicalcluster.MustParseName("four")
	s.define(four, "widgets")
	for _, cluster := range []string{"one", "two", "three", "four"} {
		s.must(http.StatusCreated, "POST", in(cluster, "", "default"), widget("a", "color: red"))
	}
	expect := func(reason, url string, want ...string) {
		t.Helper()
		if got, _ := s.listed(url); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
	t.Run("Wildcard", func(t *testing.T) {
		expect("one identity is one API, wherever it is bound", in("*", a, ""), "one/a", "three/a")
		expect("another one is another", in("*", b, ""), "two/a")
		for reason, url := range map[string]string{
			"without an identity it is not known which API is meant": in("*", "", ""),
			"an identity that nobody has bound has no API":           in("*", identityOf("c"), ""),
			"what clusters define themselves has no identity":        in("*", "customresources", ""),
			"an API that is not served in that version":              strings.Replace(in("*", a, ""), "/v1/", "/v9/", 1),
		} {
			if got := s.do("GET", url, ""); got.code != http.StatusNotFound || got.field("kind") != "Status" && !strings.Contains(got.body, "builtin") {
				t.Errorf("%s: got %s", reason, got)
			}
		}
		s.must(http.StatusMethodNotAllowed, "DELETE", in("*", a, "default")+"/a", "")
		events := s.watch(in("*", a, "") + "?watch=true&resourceVersion=0")
		if got := []string{s.next(events), s.next(events)}; !slices.Equal(got, []string{"ADDED a", "ADDED a"}) {
			t.Errorf("the watch begins with %q", got)
		}
		s.must(http.StatusCreated, "POST", in("two", "", "default"), widget("other", "color: red"))
		s.must(http.StatusCreated, "POST", in("three", "", "default"), widget("mine", "color: red"))
		if got := s.next(events); got != "ADDED mine" {
			t.Errorf("the watch of an identity tells of %q", got)
		}
		s.must(http.StatusOK, "DELETE", in("three", "", "default")+"/mine", "")
		s.must(http.StatusOK, "DELETE", in("two", "", "default")+"/other", "")
	})
	t.Run("Cluster", func(t *testing.T) {
		expect("a cluster has what it has bound", in("one", a, ""), "one/a")
		s.must(http.StatusOK, "GET", in("one", a, "default")+"/a", "")
		s.must(http.StatusCreated, "POST", in("one", a, "default"), widget("b", "color: red"))
		s.must(http.StatusOK, "PATCH", in("one", a, "default")+"/b", `{"spec":{"color":"blue"}}`, header{"Content-Type", "application/merge-patch+json"})
		s.must(http.StatusOK, "GET", in("one", "", "default")+"/b", "")
		s.must(http.StatusOK, "DELETE", in("one", a, "default")+"/b", "")
		for reason, url := range map[string]string{
			"the identity of another export":         in("one", b, ""),
			"an object under another identity":       in("one", b, "default") + "/a",
			"the API of the cluster's own":           in("four", a, ""),
			"no identity, but the name of its store": in("four", "customresources", ""),
			"nothing of the name":                    in("five", a, ""),
		} {
			got := s.do("GET", url, "")
			if got.code != http.StatusNotFound || got.field("reason") != "NotFound" || strings.Contains(got.body, a) {
				t.Errorf("%s: got %s", reason, got)
			}
		}
		s.must(http.StatusBadRequest, "GET", in("one", "", "")+":", "")
	})
}

func TestMetadataOfAllIdentities(t *testing.T) {
	s := newServer(t)
	a, b := identityOf("a"), identityOf("b")
	newest := func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions = crd.Spec.Versions[:1]
		crd.Spec.Versions[0].Name = "v2"
	}
	s.bind(one, "widgets", a)
	s.bind(two, "widgets", b, newest)
	s.define(three, "widgets")
	for _, cluster := range []string{"one", "two", "three"} {
		body := widget("a", "color: red")
		url := in(cluster, "", "default")
		if cluster == "two" {
			url, body = strings.Replace(url, "/v1/", "/v2/", 1), strings.Replace(body, "/v1", "/v2", 1)
		}
		s.must(http.StatusCreated, "POST", url, body)
	}
	all, partial := in("*", "", ""), header{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
	got, version := s.listed(all+"?limit=1", partial)
	if want := []string{"one/a", "three/a", "two/a"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want all identities, and no chunks of them: %q", got, want)
	}
	list := s.must(http.StatusOK, "GET", all, "", partial)
	for _, want := range []string{`"kcp.io/original-api-version":"example.com/v1"`, `"kcp.io/original-api-version":"example.com/v2"`} {
		if !strings.Contains(list.body, want) || strings.Contains(list.body, `"color"`) {
			t.Errorf("want %s and nothing of specs: %s", want, list.body)
		}
	}
	if got, _ := s.listed(strings.Replace(all, "/v1/", "/v2/", 1), partial); len(got) != 3 {
		t.Errorf("asked for by a version that only one identity has: got %q", got)
	}
	if got, _ := s.listed(all+"?fieldSelector=metadata.name%3Dnone", partial); len(got) != 0 {
		t.Errorf("a selector that fits nothing: got %q", got)
	}
	if got := s.do("GET", all+"?continue=x", "", partial); got.code != http.StatusBadRequest {
		t.Errorf("a list without chunks was continued: %s", got)
	}

	one, two, three := in("one", "", "default"), strings.Replace(in("two", "", "default"), "/v1/", "/v2/", 1), in("three", "", "default")
	s.must(http.StatusCreated, "POST", three, widget("b", "color: red"))
	s.must(http.StatusCreated, "POST", one, widget("c", "color: red"))
	partial.value = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	events := s.watch(all+"?watch=true&resourceVersion="+version, partial)
	told := []string{s.next(events), s.next(events)}
	slices.Sort(told)
	if want := []string{"ADDED b", "ADDED c"}; !slices.Equal(told, want) {
		t.Errorf("since the list there have been %q, want %q", told, want)
	}
	s.must(http.StatusOK, "DELETE", two+"/a", "")
	if got := s.next(events); got != "DELETED a" {
		t.Errorf("got %q", got)
	}

	initial := s.watch(all+"?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan", partial)
	told = nil
	for range 4 {
		told = append(told, s.next(initial))
	}
	slices.Sort(told)
	if want := []string{"ADDED a", "ADDED a", "ADDED b", "ADDED c"}; !slices.Equal(told, want) {
		t.Errorf("what exists is %q, want %q", told, want)
	}
	event := <-initial
	if event.Type != "BOOKMARK" || !strings.Contains(string(event.Object.Raw), `"k8s.io/initial-events-end":"true"`) {
		t.Errorf("all identities together begin once: got %s %s", event.Type, event.Object.Raw)
	}

	// A new identity: the watch has to begin anew to tell of it.
	s.bind(logicalcluster.MustParseName("five"), "widgets", identityOf("c"))
	for {
		event, ok := <-events
		if !ok {
			break
		}
		if event.Type != "BOOKMARK" {
			t.Errorf("got %s %s", event.Type, event.Object.Raw)
		}
	}
}
