package catalog_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestTerminatingDefinition(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	s.define(one, "widgets", func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.DeletionTimestamp = &metav1.Time{}
		*crd.DeletionTimestamp = metav1.Now()
	})
	apply := header{"Content-Type", "application/apply-patch+yaml"}
	refused := s.must(http.StatusForbidden, "POST", widgetsURL, widget("b", "color: red"))
	if !strings.Contains(refused.body, "create not allowed while custom resource definition is terminating") {
		t.Errorf("refusal = %s", refused.body)
	}
	s.must(http.StatusForbidden, "PATCH", widgetsURL+"/b?fieldManager=m", widget("b", "color: red"), apply)
	s.must(http.StatusOK, "PATCH", widgetsURL+"/a?fieldManager=m&force=true", widget("a", "color: blue"), apply)
	s.must(http.StatusOK, "GET", widgetsURL+"/a", "")
	s.must(http.StatusOK, "DELETE", widgetsURL+"/a", "")
}

func TestUnestablishedDefinition(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets", func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.Conditions = nil })
	s.must(http.StatusNotFound, "GET", widgetsURL, "")
	if got := s.Definitions(one); len(got) != 0 {
		t.Errorf("definitions = %v, want none", got)
	}
}

func TestWatchEndsWithItsDefinition(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.define(two, "widgets")
	events := s.watch(widgetsURL + "?watch=true")
	others := s.watch(strings.Replace(widgetsURL, "one", "two", 1) + "?watch=true")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	if got := s.next(events); got != "ADDED a" {
		t.Fatalf("event = %s", got)
	}
	s.define(one, "widgets")
	s.must(http.StatusOK, "DELETE", widgetsURL+"/a", "")
	s.Delete(one, "widgets.example.com")
	for _, want := range []string{"DELETED a", "end"} {
		if got := s.next(events); got != want {
			t.Fatalf("event = %s, want %s", got, want)
		}
	}
	s.must(http.StatusCreated, "POST", strings.Replace(widgetsURL, "one", "two", 1), widget("b", "color: red"))
	if got := s.next(others); got != "ADDED b" {
		t.Errorf("event = %s: other clusters with the same definition are not disturbed", got)
	}
}

func TestSelectableFields(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	s.must(http.StatusCreated, "POST", widgetsURL, widget("b", "color: blue, size: big"))
	red := "?fieldSelector=spec.color%3Dred"
	for _, query := range []string{red, red + "&resourceVersion=0", "?fieldSelector=metadata.name%3Da"} {
		if items := s.must(http.StatusOK, "GET", widgetsURL+query, "").field("items"); strings.Count(items, "uid") != 1 || !strings.Contains(items, "name:a") {
			t.Errorf("%s lists %s, want a", query, items)
		}
	}
	events := s.watch(widgetsURL + red + "&watch=true&resourceVersion=0")
	s.must(http.StatusOK, "PATCH", widgetsURL+"/b", `{"spec":{"color":"red"}}`, header{"Content-Type", "application/merge-patch+json"})
	s.must(http.StatusOK, "PATCH", widgetsURL+"/a", `{"spec":{"color":"blue"}}`, header{"Content-Type", "application/merge-patch+json"})
	for _, want := range []string{"ADDED a", "ADDED b", "DELETED a"} {
		if got := s.next(events); got != want {
			t.Errorf("event = %s, want %s: who stops to match is deleted for the watcher", got, want)
		}
	}
}

// TestLateSelectableFields: objects that came into the watch cache before they could be
// selected by a field can be, and nobody else who has the resource is disturbed.
func TestLateSelectableFields(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.define(two, "widgets")
	twoURL := strings.Replace(widgetsURL, "one", "two", 1)
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red, size: small"))
	s.must(http.StatusCreated, "POST", widgetsURL, widget("b", "color: blue, size: big"))
	s.must(http.StatusCreated, "POST", twoURL, widget("c", "color: red"))
	eventually(t, "the watch cache has the objects", func() string {
		if list := s.must(http.StatusOK, "GET", widgetsURL+"?resourceVersion=0", ""); strings.Count(list.body, `"uid"`) != 2 {
			return list.body
		}
		return ""
	})
	others := s.watch(twoURL + "?watch=true")
	if got := s.next(others); got != "ADDED c" {
		t.Fatalf("event = %s", got)
	}

	bySize := func(crd *apiextensionsv1.CustomResourceDefinition) {
		version := &crd.Spec.Versions[0]
		version.SelectableFields = append(version.SelectableFields, apiextensionsv1.SelectableField{JSONPath: ".spec.size"})
	}
	big := "?fieldSelector=spec.size%3Dbig"
	// Losing the field and gaining it again must not make the cache's memory count.
	for range 3 {
		s.define(one, "widgets")
		s.must(http.StatusBadRequest, "GET", widgetsURL+big, "")
		s.define(one, "widgets", bySize)
		for _, query := range []string{big, big + "&resourceVersion=0", big + "&limit=1", big + "%2Cspec.color%3Dblue"} {
			if items := s.must(http.StatusOK, "GET", widgetsURL+query, "").field("items"); strings.Count(items, "uid") != 1 || !strings.Contains(items, "name:b") {
				t.Fatalf("%s lists %s, want b", query, items)
			}
		}
		s.must(http.StatusOK, "GET", twoURL, "")
	}
	merge := header{"Content-Type", "application/merge-patch+json"}
	for _, query := range []string{"&watch=true&resourceVersion=0", "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"} {
		events := s.watch(widgetsURL + big + query)
		if got := s.next(events); got != "ADDED b" {
			t.Fatalf("event = %s, want ADDED b", got)
		}
		if strings.Contains(query, "sendInitialEvents") {
			if got := s.next(events); got != "BOOKMARK" {
				t.Fatalf("event = %s, want the end of what exists", got)
			}
		}
		for _, change := range []struct{ name, size, want string }{
			{"a", "big", "ADDED a"}, {"b", "small", "DELETED b"}, {"b", "big", "ADDED b"}, {"a", "small", "DELETED a"},
		} {
			s.must(http.StatusOK, "PATCH", widgetsURL+"/"+change.name, `{"spec":{"size":"`+change.size+`"}}`, merge)
			if got := s.next(events); got != change.want {
				t.Fatalf("%s: event = %s, want %s", query, got, change.want)
			}
		}
	}
	s.must(http.StatusOK, "PATCH", twoURL+"/c", `{"spec":{"size":"big"}}`, merge)
	if got := s.next(others); got != "MODIFIED c" {
		t.Errorf("event = %s: watches of other clusters go on", got)
	}
}

func TestWildcard(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.define(two, "widgets")
	s.must(http.StatusCreated, "POST", betaURL, "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: a}, spec: {color: red}}")
	s.must(http.StatusCreated, "POST", strings.Replace(widgetsURL, "one", "two", 1), widget("b", "color: blue"))
	all := "/clusters/*/apis/example.com/v1/widgets"
	partial := header{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"}

	s.must(http.StatusNotFound, "GET", all, "")
	s.must(http.StatusNotFound, "GET", all, "", header{"Accept", "application/json, " + partial.value})
	list := s.must(http.StatusOK, "GET", all, "", partial)
	if list.field("kind") != "PartialObjectMetadataList" || strings.Contains(list.body, `"color"`) {
		t.Errorf("list = %s", list.body)
	}
	for _, want := range []string{
		`"name":"a"`, `"name":"b"`, `"kcp.io/cluster":"one"`, `"kcp.io/cluster":"two"`, `"kcp.io/original-api-version":"example.com/v1"`,
	} {
		if !strings.Contains(list.body, want) {
			t.Errorf("list lacks %s: %s", want, list.body)
		}
	}
	s.must(http.StatusNotFound, "DELETE", all, "", partial)
}

func TestInstances(t *testing.T) {
	s := newServer(t)
	crd := s.define(one, "widgets")
	s.define(two, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	s.must(http.StatusCreated, "POST", strings.Replace(widgetsURL, "default", "other", 1),
		"{apiVersion: example.com/v1, kind: Widget, metadata: {name: b, finalizers: [example.com/keep]}, spec: {color: red}}")
	twoURL := strings.Replace(widgetsURL, "one", "two", 1)
	s.must(http.StatusCreated, "POST", twoURL, widget("c", "color: red"))

	if err := s.DeleteInstances(t.Context(), one, crd); err != nil {
		t.Fatal(err)
	}
	got, err := s.Instances(t.Context(), one, crd)
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.Instance{{Namespace: "other", Name: "b", Finalizers: []string{"example.com/keep"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what has finalizers stays (-want +got):\n%s", diff)
	}
	s.must(http.StatusOK, "GET", twoURL+"/c", "")

	s.Delete(one, crd.Name)
	if got, err := s.Instances(t.Context(), one, crd); err != nil || len(got) != 1 {
		t.Errorf("instances of a definition that is not served = %v, %v", got, err)
	}
}

// memo is stored as a Go type, as the system's own kinds are.
type memo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              memoSpec `json:"spec"`
}

type memoSpec struct {
	Text string `json:"text,omitempty"`
}

type memoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []memo `json:"items"`
}

func (m *memo) DeepCopyObject() runtime.Object {
	out := *m
	m.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (l *memoList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]memo, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*memo)
	}
	return &out
}

func memoKind(apischema.GroupResource) (storage.Kind, bool) {
	version := apischema.GroupVersion{Group: "example.com", Version: "v1"}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(version.WithKind("Memo"), &memo{})
	scheme.AddKnownTypeWithName(version.WithKind("MemoList"), &memoList{})
	metav1.AddToGroupVersion(scheme, version)
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return storage.Kind{
		New:     func() runtime.Object { return &memo{} },
		NewList: func() runtime.Object { return &memoList{} },
		Codec:   codecs.CodecForVersions(info.Serializer, info.Serializer, version, version),
	}, true
}

func TestSystemDefinitions(t *testing.T) {
	memos := readCRD(t, "memos")
	memos.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	s := newServer(t, func(config *catalog.Config) {
		source, err := catalog.EveryCluster([]*apiextensionsv1.CustomResourceDefinition{memos})
		utilruntime.Must(err)
		config.Source, config.TypedKind = source, memoKind
	})
	const url = "/clusters/one/apis/example.com/v1/memos"
	body := func(name string) string {
		return "{apiVersion: example.com/v1, kind: Memo, metadata: {name: " + name + "}, spec: {oops: 1}}"
	}
	created := s.must(http.StatusCreated, "POST", url, body("a"))
	if created.field("spec") != "map[text:hello]" || created.field("kind") != "Memo" || created.field("apiVersion") != "example.com/v1" {
		t.Errorf("created = %s", created.body)
	}
	s.must(http.StatusOK, "PATCH", url+"/a?fieldManager=m&force=true", "{apiVersion: example.com/v1, kind: Memo, metadata: {name: a}, spec: {text: bye}}",
		header{"Content-Type", "application/apply-patch+yaml"})
	for _, query := range []string{"", "?resourceVersion=0"} {
		got := s.must(http.StatusOK, "GET", url+"/a"+query, "")
		if query == "" && got.field("spec", "text") != "bye" {
			t.Errorf("got = %s", got.body)
		}
	}
	s.must(http.StatusUnprocessableEntity, "PATCH", url+"/a", `{"spec":{"text":"far too long"}}`, header{"Content-Type", "application/merge-patch+json"})

	s.must(http.StatusCreated, "POST", strings.Replace(url, "one", "two", 1), body("b"))
	all := "/clusters/*/apis/example.com/v1/memos"
	if list := s.must(http.StatusOK, "GET", all, ""); !strings.Contains(list.body, `"name":"a"`) || !strings.Contains(list.body, `"name":"b"`) {
		t.Errorf("system definitions are listed across clusters: %s", list.body)
	}
	events := s.watch(all + "?watch=true&resourceVersion=0")
	if got := []string{s.next(events), s.next(events)}; !cmp.Equal(got, []string{"ADDED a", "ADDED b"}) {
		t.Errorf("events = %v", got)
	}
	s.must(http.StatusMethodNotAllowed, "DELETE", all, "")

	// A store as it is stored, for controllers.
	store, err := s.Store(storage.Resource{GroupResource: apischema.GroupResource{Group: "example.com", Resource: "memos"}})
	if err != nil {
		t.Fatal(err)
	}
	var stored memo
	if err := store.Get(logicalcluster.NewContext(context.Background(), one), "/example.com/memos/a", getLatest, &stored); err != nil || stored.Spec.Text != "bye" {
		t.Errorf("stored = %+v, %v", stored, err)
	}
}

func TestSystemDefinitionsWin(t *testing.T) {
	system := readCRD(t, "gadgets")
	s := newServer(t, func(config *catalog.Config) {
		source, err := catalog.EveryCluster([]*apiextensionsv1.CustomResourceDefinition{system})
		utilruntime.Must(err)
		config.Source = source
	})
	s.define(one, "widgets")
	s.define(one, "gadgets", func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Names.ShortNames = []string{"g"} })
	var names []string
	for _, served := range s.Definitions(one) {
		names = append(names, served.Definition.CRD.Name+" "+served.Identity)
	}
	if want := []string{"gadgets.example.com ", "widgets.example.com customresources"}; !cmp.Equal(names, want) {
		t.Errorf("definitions = %q, want %q", names, want)
	}
}

func TestCoreGroup(t *testing.T) {
	s := newServer(t)
	s.define(one, "services")
	created := s.must(http.StatusCreated, "POST", "/clusters/one/api/v1/namespaces/default/services",
		"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {port: 80}}")
	if created.field("apiVersion") != "v1" || created.field("spec", "port") != "80" {
		t.Errorf("created = %s", created.body)
	}
	merge := header{"Content-Type", "application/merge-patch+json"}
	s.must(http.StatusOK, "PATCH", "/clusters/one/api/v1/namespaces/default/services/a", `{"spec":{"port":81}}`, merge)
	patched := s.must(http.StatusOK, "PATCH", "/clusters/one/api/v1/namespaces/default/services/a/status", `{"spec":{"port":82},"status":{"ready":true}}`, merge)
	if patched.field("status", "ready") != "true" || patched.field("spec", "port") != "81" {
		t.Errorf("patched = %s", patched.body)
	}
	s.must(http.StatusOK, "GET", "/clusters/one/api/v1/services", "")
}
