package virtual

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// watches are how controllers of providers hear of their consumers.
var watches = map[string]behavior{
	"Informer": {
		reason: "one informer of client-go hears of all consumers, and what it hears of can be changed where it is",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, looking, everywhere)
			heard := make(chan *unstructured.Unstructured, 100)
			informer := dynamicinformer.NewFilteredDynamicInformer(client, cowboys, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				if u := obj.(*unstructured.Unstructured); strings.HasPrefix(u.GetName(), "informed-") {
					heard <- u
				}
			}})
			must(t, err)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go informer.RunWithContext(ctx)
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				t.Fatal("the informer is not filled")
			}
			// Called differently: to such an informer clusters are no part of a name.
			names := map[string]place{"informed-first": s.first, "informed-second": s.second}
			for name, in := range names {
				_, err := s.admin(t, in).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy(name, "ride"), metav1.CreateOptions{})
				must(t, err)
			}
			for range names {
				var obj *unstructured.Unstructured
				select {
				case obj = <-heard:
				case <-time.After(servertest.Patience):
					t.Fatal("the informer does not hear of a consumer")
				}
				at := place{name: obj.GetAnnotations()["kcp.io/cluster"]}
				_, err := s.through(t, providing, at).Resource(cowboys).Namespace("default").Patch(t.Context(), obj.GetName(),
					types.MergePatchType, []byte(`{"status":{"result":"`+at.name+`"}}`), metav1.PatchOptions{}, "status")
				must(t, err)
			}
			for name, in := range names {
				obj, err := s.admin(t, in).Resource(cowboys).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
				must(t, err)
				if result, _, _ := unstructured.NestedString(obj.Object, "status", "result"); result != in.name {
					t.Errorf("the result in %s is %q", in.name, result)
				}
			}
		},
	},
	"Streaming": {
		reason: "a streaming list sends what there is, a bookmark and what comes",
		test: func(t *testing.T, s *suite) {
			obj := cowboy("streamed", "")
			obj.SetLabels(map[string]string{"streamed": "yes"})
			_, err := s.admin(t, s.first).Resource(cowboys).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{})
			must(t, err)
			for _, in := range []place{everywhere, s.first} {
				w, err := s.through(t, looking, in).Resource(cowboys).Watch(t.Context(), metav1.ListOptions{
					LabelSelector: "streamed=yes", SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
					ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				})
				must(t, err)
				if event := next(t, w); event != (seen{watch.Added, s.first.name, "streamed"}) {
					t.Errorf("in %s: %+v", in.name, event)
				}
				nextOf(t, w, func(e watch.Event) bool {
					accessor, ok := e.Object.(metav1.Object)
					return e.Type == watch.Bookmark && ok && accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
				})
				name := fmt.Sprintf("streamed-in-%d", len(in.name))
				late := cowboy(name, "")
				late.SetLabels(map[string]string{"streamed": "yes"})
				_, err = s.admin(t, s.first).Resource(cowboys).Namespace("default").Create(t.Context(), late, metav1.CreateOptions{})
				must(t, err)
				if event := next(t, w); event != (seen{watch.Added, s.first.name, name}) {
					t.Errorf("in %s: %+v", in.name, event)
				}
				w.Stop()
			}
		},
	},
	"Selectors": {
		reason: "the selectors of clients count",
		test: func(t *testing.T, s *suite) {
			for _, name := range []string{"chosen", "not-chosen"} {
				_, err := s.admin(t, s.second).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy(name, ""), metav1.CreateOptions{})
				must(t, err)
			}
			found, err := s.through(t, looking, everywhere).Resource(cowboys).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=chosen"})
			must(t, err)
			if len(found.Items) != 1 || len(clusters(found, "chosen")) != 1 {
				t.Errorf("%d found", len(found.Items))
			}
		},
	},
	"One": {
		reason: "a watch of one consumer hears nothing of the others",
		test: func(t *testing.T, s *suite) {
			w, err := s.through(t, looking, s.second).Resource(cowboys).Watch(t.Context(), metav1.ListOptions{LabelSelector: "watched=yes"})
			must(t, err)
			defer w.Stop()
			for _, in := range []place{s.first, s.second} {
				obj := cowboy("watched", "")
				obj.SetLabels(map[string]string{"watched": "yes"})
				_, err := s.admin(t, in).Resource(cowboys).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{})
				must(t, err)
			}
			if event := next(t, w); event.cluster != s.second.name {
				t.Errorf("got %+v", event)
			}
		},
	},
	"NewSchema": {
		reason: "a watch ends when the export has another schema, so that new fields are seen, and when a claim goes",
		test: func(t *testing.T, s *suite) {
			provider := s.newPlace(t)
			s.provide(t, provider, cowboySchema, cowboyExport)
			consumer := s.newPlace(t)
			s.bind(t, consumer, provider, "wild.west")
			client := newClient(t, s.config(t, providing, provider, "wild.west", everywhere))
			shown, err := client.Resource(cowboys).Watch(t.Context(), metav1.ListOptions{})
			must(t, err)
			claimed, err := client.Resource(configmaps).Watch(t.Context(), metav1.ListOptions{})
			must(t, err)
			unchanged, err := client.Resource(secrets).Watch(t.Context(), metav1.ListOptions{})
			must(t, err)
			defer unchanged.Stop()

			tomorrow := parse(t, cowboySchema)
			_ = unstructured.SetNestedField(tomorrow, "tomorrow.cowboys.wildwest.dev", "metadata", "name")
			versions, _, _ := unstructured.NestedSlice(tomorrow, "spec", "versions")
			_ = unstructured.SetNestedField(versions[0].(map[string]any), map[string]any{"type": "string"}, "schema", "properties", "spec", "properties", "hat")
			_ = unstructured.SetNestedSlice(tomorrow, versions, "spec", "versions")
			mustCreate(t, s.admin(t, provider).Resource(schemas), tomorrow)
			_, err = s.admin(t, provider).Resource(exports).Patch(t.Context(), "wild.west", types.MergePatchType, []byte(`{"spec":{
				"resources":[{"name":"cowboys","group":"wildwest.dev","schema":"tomorrow.cowboys.wildwest.dev"}],
				"permissionClaims":[{"resource":"secrets","verbs":["*"]}]}}`), metav1.PatchOptions{})
			must(t, err)
			ended(t, shown)
			ended(t, claimed)

			// The watch of what did not change goes on.
			select {
			case event, ok := <-unchanged.ResultChan():
				t.Errorf("got %v, %t from a watch that is not concerned", event, ok)
			default:
			}
			_, err = list(t.Context(), client, configmaps)
			wantCode(t, err, http.StatusNotFound)
			servertest.Eventually(t, "the new field is there for the consumer and seen by the provider", func() (bool, any) {
				obj := cowboy("hatted", "")
				_ = unstructured.SetNestedField(obj.Object, "black", "spec", "hat")
				_, _ = s.admin(t, consumer).Resource(cowboys).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{})
				_, _ = s.admin(t, consumer).Resource(cowboys).Namespace("default").Update(t.Context(), current(t, s, consumer, obj), metav1.UpdateOptions{})
				found, err := list(t.Context(), client, cowboys)
				if err != nil || len(found.Items) != 1 {
					return false, err
				}
				hat, _, _ := unstructured.NestedString(found.Items[0].Object, "spec", "hat")
				return hat == "black", found.Items[0].Object
			})
		},
	},
	"Builtin": {
		reason: "claimed objects of all consumers are watched with one watch",
		test: func(t *testing.T, s *suite) {
			w, err := s.through(t, looking, everywhere).Resource(configmaps).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=watched-claim"})
			must(t, err)
			defer w.Stop()
			for _, in := range []place{s.third, s.first} {
				_, err = s.admin(t, in).Resource(configmaps).Namespace(corev1.NamespaceDefault).Create(t.Context(), configmap("watched-claim", nil), metav1.CreateOptions{})
				must(t, err)
			}
			if event := next(t, w); event.cluster != s.first.name {
				t.Errorf("got %+v", event)
			}
		},
	},
}

// current returns obj with the resource version it has.
func current(t *testing.T, s *suite, in place, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	stored, err := s.admin(t, in).Resource(cowboys).Namespace("default").Get(t.Context(), obj.GetName(), metav1.GetOptions{})
	if err == nil {
		obj.SetResourceVersion(stored.GetResourceVersion())
	}
	return obj
}

// ended waits until a watch ends.
func ended(t *testing.T, w watch.Interface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	for {
		select {
		case _, ok := <-w.ResultChan():
			if !ok {
				return
			}
		case <-ctx.Done():
			t.Fatal("the watch goes on")
		}
	}
}
