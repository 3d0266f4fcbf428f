package lifecycle

import (
	"context"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/address"
)

// TestReflector follows all logical clusters that wait for an initializer by client-go's
// reflector, which is what caches of controllers are made of, while the server stops and
// starts again.
func TestReflector(t *testing.T) {
	root, users, port := t.TempDir(), servertest.WithUsers(t), address.FreePort(t)
	start := func() *servertest.Server { return servertest.StartIn(t, root, users, "--secure-port="+port) }
	s := &suite{server: start()}
	s.prepare(t)
	seen := reflected(t, s.all(t, first, initializing, "first"))
	await := func(what string, clusters ...string) {
		t.Helper()
		slices.Sort(clusters)
		servertest.Eventually(t, what, func() (bool, any) {
			keys := seen.ListKeys()
			slices.Sort(keys)
			return slices.Equal(keys, clusters), keys
		})
	}
	before, done := s.newborn(t, "first").Spec.Cluster, s.newborn(t, "both").Spec.Cluster
	await("it knows both", before, done)

	s.server.Stop()
	s.server = start()
	after := s.newborn(t, "first").Spec.Cluster
	await("it knows what has come since", before, done, after)
	_, err := patch(t, s.one(t, first, initializing, "first", done), mergePatch, `{"status":{"initializers":["`+s.id("second")+`"]}}`)
	must(t, err)
	await("it knows that one is done", before, after)
	for _, cluster := range []string{before, after} {
		_, err := patch(t, s.one(t, first, initializing, "first", cluster), mergePatch, `{"status":{"initializers":[]}}`)
		must(t, err)
	}
	await("it knows that all are done")
}

// reflected returns a store of what a client lists and watches, by cluster, since all
// have one name. It is kept up to date until the test ends.
func reflected(t *testing.T, client dynamic.ResourceInterface) cache.Store {
	t.Helper()
	store := cache.NewStore(func(obj any) (string, error) { return clusterOf(obj.(*unstructured.Unstructured)), nil })
	reflector := cache.NewReflectorWithOptions(listing{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, options)
		},
	}}, &unstructured.Unstructured{}, store, cache.ReflectorOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reflector.RunWithContext(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return store
}

// listing is a ListWatch that does not stream lists. A reflector keeps what it streams by
// namespace and name until it has all of it, so that one would be left of those that have
// one name.
type listing struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what reflectors ask.
func (listing) IsWatchListSemanticsUnSupported() bool { return true }
