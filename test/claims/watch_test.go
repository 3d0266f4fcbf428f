package claims

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

const patience = time.Minute

// watching begins a watch of config maps with what there is now.
func (w workspace) watching() watch.Interface {
	w.Helper()
	list, err := w.client.Resource(configMaps).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	events, err := w.client.Resource(configMaps).Watch(w.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(events.Stop)
	return events
}

// next returns the next event.
func next(t *testing.T, events watch.Interface) (watch.EventType, *unstructured.Unstructured) {
	t.Helper()
	select {
	case event, ok := <-events.ResultChan():
		object, isObject := event.Object.(*unstructured.Unstructured)
		if !ok || !isObject {
			t.Fatalf("the watch has ended with %v", event)
		}
		return event.Type, object
	case <-time.After(patience):
		t.Fatal("there is no event")
		return "", nil
	}
}

// TestWatchesFollowAnswers: what the provider is not given any more is gone for him, and
// what he is given anew is new.
func TestWatchesFollowAnswers(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, maps), newWorkspace(t, server)
	consumer.bind("sharing", provider, exportName, accept(maps, red))
	consumer.awaitClaims("sharing")
	watches := map[string]watch.Interface{
		"One": through(t, server, provider, consumer.cluster).watching(),
		"All": through(t, server, provider, "*").watching(),
	}
	for _, step := range []struct {
		reason string
		do     func()
		want   watch.EventType
	}{
		{"what is created is new", func() { consumer.create(configMaps, configMap("a", objects["red"])) }, watch.Added},
		{"changes are told", func() { consumer.patch(configMaps, "a", `{"data":{"a":"b"}}`) }, watch.Modified},
		{"the owner takes it away", func() { consumer.patch(configMaps, "a", `{"metadata":{"labels":{"color":"blue"}}}`) }, watch.Deleted},
		{"and gives it back", func() {
			consumer.patch(configMaps, "a", `{"data":{"a":"unseen"}}`)
			consumer.patch(configMaps, "a", `{"metadata":{"labels":{"color":"red"}}}`)
		}, watch.Added},
		{"the answer takes it away", func() { consumer.answer("sharing", reject(maps)) }, watch.Deleted},
		{"and gives it back", func() { consumer.answer("sharing", accept(maps, red)) }, watch.Added},
		{"fewer verbs take it away", func() { consumer.answer("sharing", accept(claim(configMaps, "get"), red)) }, watch.Deleted},
		{"and more give it back", func() { consumer.answer("sharing", accept(maps, red)) }, watch.Added},
		{"what is deleted is gone", func() { consumer.delete(configMaps, "a") }, watch.Deleted},
		{"as is what is created", func() { consumer.create(configMaps, configMap("a", objects["red"])) }, watch.Added},
		{"the binding goes", func() { consumer.delete(bindings, "sharing") }, watch.Deleted},
	} {
		step.do()
		for name, events := range watches {
			got, object := next(t, events)
			if got != step.want || object.GetName() != "a" {
				t.Fatalf("%s: watch of %s: got %s %s, want %s", step.reason, name, got, object.GetName(), step.want)
			}
		}
	}
}

// TestViewsConverge: whatever owners do at the same time as answers change, the provider
// ends up with what he is given in the end.
func TestViewsConverge(t *testing.T) {
	const owners, objects, writes = 4, 5, 60
	server := servertest.Start(t)
	claimed := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	consumer.bind("sharing", provider, exportName, accept(claimed, red))
	consumer.awaitClaims("sharing")
	events := through(t, server, provider, "*").watching()
	seen := map[string]struct{}{}
	var mu sync.Mutex
	var following sync.WaitGroup
	following.Go(func() {
		for event := range events.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				return
			}
			mu.Lock()
			if event.Type == watch.Deleted {
				delete(seen, object.GetName())
			} else {
				seen[object.GetName()] = struct{}{}
			}
			mu.Unlock()
		}
	})
	var writing sync.WaitGroup
	for owner := range owners {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(uint64(owner), 1))
			for range writes {
				name := fmt.Sprintf("o%d-%d", owner, random.IntN(objects))
				color := []string{"red", "blue"}[random.IntN(2)]
				if random.IntN(4) == 0 {
					// It may not be there.
					_ = consumer.resource(configMaps).Delete(t.Context(), name, metav1.DeleteOptions{})
				} else if _, err := consumer.tryCreate(configMaps, configMap(name, map[string]string{"color": color})); err != nil {
					consumer.patch(configMaps, name, `{"metadata":{"labels":{"color":"`+color+`"}}}`)
				}
			}
		})
	}
	for _, selector := range []apisv1alpha2.PermissionClaimSelector{everything, red, everything, red, everything, red} {
		consumer.answer("sharing", accept(claimed, selector))
	}
	writing.Wait()
	list, err := consumer.resource(configMaps).List(t.Context(), metav1.ListOptions{LabelSelector: "color=red"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range list.Items {
		want = append(want, list.Items[i].GetName())
	}
	if len(want) == 0 {
		t.Fatal("nothing is left to be seen")
	}
	slices.Sort(want)
	servertest.Eventually(t, "the provider to see what is red", func() (bool, any) {
		mu.Lock()
		defer mu.Unlock()
		got := slices.Sorted(maps.Keys(seen))
		return slices.Equal(got, want), got
	})
	events.Stop()
	following.Wait()
	consumer.awaitClaims("sharing")
	same(t, "and finds the same by a list", want, through(t, server, provider, consumer.cluster).names(configMaps))
}

// TestOwnersWin: a provider edits an object whose label its owner takes away and gives back
// all the time. No change of his is made to the object while it is not given.
func TestOwnersWin(t *testing.T) {
	const turns = 100
	server := servertest.Start(t)
	claimed := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	consumer.bind("sharing", provider, exportName, accept(claimed, red))
	consumer.awaitClaims("sharing")
	last := consumer.create(configMaps, configMap("a", objects["red"]))
	events := consumer.watching()
	done := make(chan struct{})
	var editing sync.WaitGroup
	for editor := range 2 {
		editing.Go(func() {
			view := through(t, server, provider, consumer.cluster)
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
					// Refused as often as not.
					_, _ = view.tryPatch(configMaps, "a", fmt.Sprintf(`{"data":{"by-%d":"%d"}}`, editor, i))
				}
			}
		})
	}
	for i := range turns {
		consumer.patch(configMaps, "a", `{"metadata":{"labels":{"color":"`+[]string{"blue", "red"}[i%2]+`"}}}`)
	}
	close(done)
	editing.Wait()
	end := consumer.patch(configMaps, "a", `{"data":{"end":"yes"}}`).GetResourceVersion()
	edits := 0
	for last.GetResourceVersion() != end {
		_, object := next(t, events)
		if object.GetName() != "a" {
			continue
		}
		before, _, _ := unstructured.NestedStringMap(last.Object, "data")
		after, _, _ := unstructured.NestedStringMap(object.Object, "data")
		delete(after, "end")
		if !maps.Equal(before, after) {
			edits++
			if color := last.GetLabels()["color"]; color != "red" {
				t.Errorf("the provider has changed an object with color %s", color)
			}
		}
		last = object
	}
	if edits == 0 {
		t.Error("the provider has changed nothing at all")
	}
	t.Logf("%d edits in %d turns", edits, turns)
}
