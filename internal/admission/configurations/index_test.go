package configurations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var here, there = logicalcluster.MustParseName("here"), logicalcluster.MustParseName("there")

func mutating(place logicalcluster.Name, name string) *admissionregistration.MutatingWebhookConfiguration {
	return &admissionregistration.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: place.String()},
	}}
}

// counted are instances that can be counted.
type counted struct {
	made, ended atomic.Int64
	instances   *configurations.Instances[int64]
}

func count(index *configurations.Index) *counted {
	c := &counted{}
	c.instances = configurations.NewInstances(index, func(ctx context.Context, _ logicalcluster.Name) (int64, error) {
		context.AfterFunc(ctx, func() { c.ended.Add(1) })
		return c.made.Add(1), nil
	}, configurations.MutatingWebhooks, configurations.MutatingPolicies)
	return c
}

func get(t *testing.T, c *counted, place logicalcluster.Name) (int64, bool) {
	t.Helper()
	value, ok, err := c.instances.Get(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	return value, ok
}

func TestInstancesLiveAsLongAsTheirConfigurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := admissiontest.NoConfigurations()
		defer index.Close()
		told, c := index.Listener(), count(index)
		if _, ok := get(t, c, here); ok {
			t.Fatal("a cluster without configurations needs no instance")
		}
		told.Changed(configurations.MutatingWebhooks, mutating(here, "a"))
		told.Changed(configurations.MutatingWebhooks, mutating(here, "b"))
		told.Changed(configurations.ValidatingWebhooks, mutating(there, "other"))
		if _, ok := get(t, c, there); ok {
			t.Error("what it has is not what the instance is for")
		}
		first, ok := get(t, c, here)
		if again, _ := get(t, c, here); !ok || again != first || c.instances.Len() != 1 {
			t.Errorf("there is one instance, got %d and %d", first, again)
		}
		told.Gone(configurations.MutatingWebhooks, mutating(here, "a"))
		synctest.Wait()
		if c.ended.Load() != 0 {
			t.Error("it was dropped while it was needed")
		}
		told.Gone(configurations.MutatingWebhooks, mutating(here, "b"))
		synctest.Wait()
		if _, ok := get(t, c, here); ok || c.ended.Load() != 1 || c.instances.Len() != 0 {
			t.Error("it was not dropped with the last configuration")
		}
		told.Changed(configurations.MutatingWebhooks, mutating(here, "a"))
		if second, ok := get(t, c, here); !ok || second == first {
			t.Error("a new configuration needs a new instance")
		}
		index.Close()
		synctest.Wait()
		if c.ended.Load() != 2 {
			t.Error("instances end with the Index")
		}
	})
}

func TestInstancesAreMadeOnce(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	index.Listener().Changed(configurations.MutatingWebhooks, mutating(here, "a"))
	c := count(index)
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if value, ok, err := c.instances.Get(t.Context(), here); err != nil || !ok || value != 1 {
				t.Errorf("got %d, %t, %v", value, ok, err)
			}
		})
	}
	wait.Wait()
}

// TestNoInstanceOutlivesItsCluster lets requests and the end of configurations race.
func TestNoInstanceOutlivesItsCluster(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	told, c := index.Listener(), count(index)
	var wait sync.WaitGroup
	for i := range 4 {
		place := logicalcluster.MustParseName(fmt.Sprintf("cluster-%d", i))
		wait.Go(func() {
			for range 500 {
				told.Changed(configurations.MutatingWebhooks, mutating(place, "a"))
				told.Gone(configurations.MutatingWebhooks, mutating(place, "a"))
			}
		})
		wait.Go(func() {
			for range 500 {
				if _, _, err := c.instances.Get(t.Context(), place); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := c.instances.Len(); n != 0 {
		t.Errorf("%d instances are left of clusters without configurations", n)
	}
}

func TestAnInstanceThatFailsIsMadeAgain(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	index.Listener().Changed(configurations.MutatingWebhooks, mutating(here, "a"))
	broken := errors.New("broken")
	attempts := 0
	instances := configurations.NewInstances(index, func(context.Context, logicalcluster.Name) (int, error) {
		if attempts++; attempts == 1 {
			return 0, broken
		}
		return attempts, nil
	}, configurations.MutatingWebhooks)
	if _, _, err := instances.Get(t.Context(), here); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if value, ok, err := instances.Get(t.Context(), here); err != nil || !ok || value != 2 {
		t.Errorf("got %d, %t, %v", value, ok, err)
	}
}

func TestNothingIsAnsweredBeforeEverythingIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := configurations.NewIndex(nil)
		defer index.Close()
		told, c := index.Listener(), count(index)
		resources := configurations.Resources()
		for _, resource := range resources[1:] {
			told.Began(resource)
			told.Synced(resource)
		}
		begun := time.Now()
		if _, _, err := c.instances.Get(t.Context(), here); !errors.Is(err, configurations.ErrNotReady) || time.Since(begun) > time.Minute {
			t.Errorf("a request does not wait for ever, got %v after %s", err, time.Since(begun))
		}
		go func() {
			time.Sleep(time.Second)
			told.Began(resources[0])
			told.Changed(resources[0], mutating(here, "a"))
			told.Synced(resources[0])
		}()
		if _, ok, err := c.instances.Get(t.Context(), here); err != nil || !ok {
			t.Errorf("it slipped past the configuration: %t, %v", ok, err)
		}
	})
}

func TestAGapIsClosed(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	told := index.Listener()
	for _, name := range []string{"stays", "goes"} {
		told.Changed(configurations.MutatingWebhooks, mutating(here, name))
	}
	told.Changed(configurations.MutatingWebhooks, mutating(there, "goes"))
	heard := &ear{}
	end := index.Subscribe(t.Context(), here, configurations.MutatingWebhooks, heard)

	told.Began(configurations.MutatingWebhooks)
	told.Changed(configurations.MutatingWebhooks, mutating(here, "stays"))
	told.Changed(configurations.MutatingWebhooks, mutating(here, "comes"))
	told.Synced(configurations.MutatingWebhooks)
	if got := names(index.List(here, configurations.MutatingWebhooks)); !slices.Equal(got, []string{"comes", "stays"}) {
		t.Errorf("got %v", got)
	}
	if got := index.List(there, configurations.MutatingWebhooks); len(got) != 0 {
		t.Errorf("got %v", names(got))
	}
	end()
	told.Gone(configurations.MutatingWebhooks, mutating(here, "stays"))
	slices.Sort(heard.heard[:2]) // what existed comes in no order
	want := []string{"existing goes", "existing stays", "updated stays", "added comes", "deleted goes"}
	if diff := cmp.Diff(want, heard.heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOthersAreIgnored: the Feed tells of every resource there is.
func TestOthersAreIgnored(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	told := index.Listener()
	told.Began(cached.Namespaces)
	told.Changed(cached.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	told.Gone(cached.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	told.Synced(cached.Namespaces)
	told.Closed(cached.Namespaces)
	told.Changed(configurations.MutatingWebhooks, &admissionregistration.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "nowhere"}})
	for _, resource := range configurations.Resources() {
		if got := index.List(logicalcluster.Name{}, resource); len(got) > 0 {
			t.Errorf("what is in no cluster is nobody's, got %v", names(got))
		}
	}
}

// ear is a subscriber that writes down what it is told.
type ear struct{ heard []string }

// Existing writes it down.
func (e *ear) Existing(obj runtime.Object) { e.hear("existing", obj) }

// Added writes it down.
func (e *ear) Added(obj runtime.Object) { e.hear("added", obj) }

// Updated writes it down.
func (e *ear) Updated(_, obj runtime.Object) { e.hear("updated", obj) }

// Deleted writes it down.
func (e *ear) Deleted(obj runtime.Object) { e.hear("deleted", obj) }

func (e *ear) hear(what string, obj runtime.Object) {
	e.heard = append(e.heard, what+" "+obj.(metav1.Object).GetName())
}

func names(objects []runtime.Object) []string {
	var all []string
	for _, obj := range objects {
		all = append(all, obj.(metav1.Object).GetName())
	}
	slices.Sort(all)
	return all
}

// BenchmarkNoConfigurations is what every write pays in a workspace that has none.
func BenchmarkNoConfigurations(b *testing.B) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	index.Listener().Changed(configurations.MutatingWebhooks, mutating(there, "a"))
	instances := configurations.NewInstances(index, func(context.Context, logicalcluster.Name) (int, error) { return 0, nil }, configurations.MutatingWebhooks)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := instances.Get(b.Context(), here); ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
