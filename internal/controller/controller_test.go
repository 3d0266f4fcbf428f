package controller

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// watched is a store of which only watches are used. Each watch is handed to the test.
type watched struct {
	storage.Interface
	begun chan begun
}

type begun struct {
	options storage.ListOptions
	events  *watch.FakeWatcher
}

func (w *watched) Watch(_ context.Context, _ string, options storage.ListOptions) (watch.Interface, error) {
	events := watch.NewFakeWithChanSize(10, false)
	w.begun <- begun{options, events}
	return events, nil
}

func object(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, ResourceVersion: version,
		Annotations: map[string]string{logicalcluster.AnnotationKey: "root"},
	}}
}

func initialEventsEnd(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version,
		Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
}

func keyOf(name string) Key {
	return Key{Cluster: logicalcluster.Root, Namespace: "default", Name: name}
}

// start runs a controller over one watched store until the test ends.
func start(t *testing.T, known func() []Key, reconcile Reconcile) (*Controller, *watched) {
	t.Helper()
	store := &watched{begun: make(chan begun, 10)}
	c := New(Options{
		Name:      "tested",
		Sources:   []Source{{Store: store, Prefix: "/core/configmaps", Keys: OwnKey, Known: known}},
		Reconcile: reconcile,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { c.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		wait.Wait()
	})
	return c, store
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(time.Minute):
		t.Fatalf("timed out waiting for %s", what)
		panic("unreachable")
	}
}

func TestSyncedAfterAllThatExistedWasReconciled(t *testing.T) {
	release, reconciled := make(chan struct{}), make(chan Key, 10)
	c, store := start(t, nil, func(_ context.Context, key Key) error {
		<-release
		reconciled <- key
		return nil
	})
	w := receive(t, store.begun, "the watch")
	w.events.Add(object("a", "3"))
	w.events.Action(watch.Bookmark, initialEventsEnd("5"))
	select {
	case <-c.Synced():
		t.Fatal("synced before the object was reconciled")
	default:
	}
	close(release)
	if got := receive(t, reconciled, "a reconcile"); got != keyOf("a") {
		t.Errorf("reconciled %v", got)
	}
	receive(t, c.Synced(), "the controller to be synced")
}

func TestErrorsComeBack(t *testing.T) {
	attempts := make(chan int, 10)
	n := 0
	_, store := start(t, nil, func(context.Context, Key) error {
		n++
		attempts <- n
		switch n {
		case 1:
			return errors.New("broken")
		case 2:
			panic("a mistake")
		case 3:
			return After(time.Millisecond)
		default:
			return nil
		}
	})
	receive(t, store.begun, "the watch").events.Add(object("a", "3"))
	for want := 1; want <= 4; want++ {
		if got := receive(t, attempts, "an attempt"); got != want {
			t.Errorf("attempt %d is the %dth", got, want)
		}
	}
}

func TestAWatchThatEndsIsResumed(t *testing.T) {
	reconciled := make(chan Key, 10)
	_, store := start(t, func() []Key { return []Key{keyOf("remembered")} }, func(_ context.Context, key Key) error {
		reconciled <- key
		return nil
	})
	first := receive(t, store.begun, "the watch")
	if first.options.ResourceVersion != "" || first.options.SendInitialEvents == nil {
		t.Errorf("the first watch does not begin with what exists: %+v", first.options)
	}
	first.events.Action(watch.Bookmark, initialEventsEnd("5"))
	first.events.Modify(object("a", "7"))
	receive(t, reconciled, "a reconcile")
	first.events.Stop()

	second := receive(t, store.begun, "a second watch")
	if second.options.ResourceVersion != "6" || second.options.SendInitialEvents != nil {
		t.Errorf("the second watch does not go on where the first ended: %+v", second.options)
	}
	// What happened since is not known any more.
	second.events.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})

	third := receive(t, store.begun, "a third watch")
	if third.options.ResourceVersion != "" {
		t.Errorf("the third watch does not begin anew: %+v", third.options)
	}
	third.events.Action(watch.Bookmark, initialEventsEnd("9"))
	if got := receive(t, reconciled, "what may have gone unseen"); got != keyOf("remembered") {
		t.Errorf("reconciled %v", got)
	}
}

func TestOwnKeyNeedsACluster(t *testing.T) {
	if keys := OwnKey(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); keys != nil {
		t.Errorf("an object of no cluster has keys %v", keys)
	}
}
