package storagemigration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controllers/storagemigration"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	widgets         = schema.GroupResource{Group: "example.com", Resource: "widgets"}
	errUnfit        = errors.New("unfit")
	errAtTheMoment  = errors.New("not at the moment")
	boundIdentity   = strings.Repeat("ab", 32)
	storedElsewhere = storage.Resource{GroupResource: widgets, Identity: storage.CustomResources}
)

// objects are the stale widgets of clusters, and what comes of migrating them.
type objects struct {
	mu       sync.Mutex
	stale    map[logicalcluster.Name][]storage.ObjectName
	errs     map[string]error
	attempts map[string]int
	// before, if set, is called with each name before it is migrated.
	before func(name string)
}

func newObjects(cluster logicalcluster.Name, count int) *objects {
	o := &objects{stale: map[logicalcluster.Name][]storage.ObjectName{}, errs: map[string]error{}, attempts: map[string]int{}}
	for i := range count {
		o.add(cluster, fmt.Sprintf("w%05d", i))
	}
	return o
}

func (o *objects) add(cluster logicalcluster.Name, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stale[cluster] = append(o.stale[cluster], storage.ObjectName{Name: name})
}

func (o *objects) Migratable(cluster logicalcluster.Name) []schema.GroupResource {
	if cluster == logicalcluster.Root {
		return []schema.GroupResource{widgets}
	}
	return nil
}

func (o *objects) Stale(_ logicalcluster.Name, _ storage.Resource, obj runtime.Object) bool {
	return obj.(*unstructured.Unstructured).GetAPIVersion() == "example.com/v1"
}

func (o *objects) StaleObjects(_ context.Context, cluster logicalcluster.Name, _ schema.GroupResource) ([]storage.ObjectName, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := slices.Clone(o.stale[cluster])
	slices.SortFunc(names, func(a, b storage.ObjectName) int { return strings.Compare(a.Name, b.Name) })
	return names, nil
}

func (o *objects) Migrate(_ context.Context, cluster logicalcluster.Name, _ schema.GroupResource, name storage.ObjectName) (bool, error) {
	if o.before != nil {
		o.before(name.Name)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attempts[name.Name]++
	if err := o.errs[name.Name]; err != nil {
		return false, err
	}
	o.stale[cluster] = slices.DeleteFunc(o.stale[cluster], func(n storage.ObjectName) bool { return n == name })
	return true, nil
}

func (o *objects) left(cluster logicalcluster.Name) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.stale[cluster])
}

func (o *objects) attemptsOf(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.attempts[name]
}

func start(t *testing.T, o *objects) *storagemigration.Migration {
	t.Helper()
	m := storagemigration.New(storagemigration.Config{
		Catalog:       o,
		Unconvertible: func(err error) bool { return errors.Is(err, errUnfit) },
		Clock:         clock.RealClock{},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		m.Controller.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return m
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 2*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("%s: not within 20 seconds", what)
	}
}

// stale returns an object of a cluster that is stored in an old version.
func stale(cluster logicalcluster.Name) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetAnnotations(map[string]string{logicalcluster.AnnotationKey: cluster.String()})
	return u
}

func TestAllAreMigrated(t *testing.T) {
	// More than are rewritten before it is another's turn.
	o := newObjects(logicalcluster.Root, 1200)
	o.errs["w00000"], o.errs["w00700"], o.errs["w00800"] = errUnfit, errUnfit, errAtTheMoment
	m := start(t, o)
	m.DefinitionsChanged(logicalcluster.Root)
	eventually(t, "all but three are migrated", func() bool { return o.left(logicalcluster.Root) == 3 })
	eventually(t, "the last one has been tried", func() bool { return o.attemptsOf("w01199") == 1 })
	for _, name := range []string{"w00000", "w00700", "w00800"} {
		if got := o.attemptsOf(name); got != 1 {
			t.Errorf("%s was tried %d times: what cannot be converted now is not tried again at once", name, got)
		}
	}
	o.mu.Lock()
	delete(o.errs, "w00000")
	o.mu.Unlock()
	m.DefinitionsChanged(logicalcluster.Root)
	eventually(t, "other rules are tried", func() bool { return o.left(logicalcluster.Root) == 2 })
}

// TestStaleBehindItsBack: an object that is written in the old version where the
// controller has been already is not forgotten.
func TestStaleBehindItsBack(t *testing.T) {
	o := newObjects(logicalcluster.Root, 600)
	var m *storagemigration.Migration
	written := sync.OnceFunc(func() {
		o.add(logicalcluster.Root, "a")
		m.Changed(storage.Resource{GroupResource: widgets, Identity: boundIdentity}, stale(logicalcluster.Root))
	})
	o.before = func(name string) {
		if name == "w00550" {
			written()
		}
	}
	m = start(t, o)
	m.DefinitionsChanged(logicalcluster.Root)
	eventually(t, "all are migrated", func() bool { return o.left(logicalcluster.Root) == 0 && o.attemptsOf("a") == 1 })
}

func TestObjectsThatAreHeardOf(t *testing.T) {
	o := newObjects(logicalcluster.Root, 1)
	m := start(t, o)
	fresh := stale(logicalcluster.Root)
	fresh.SetAPIVersion("example.com/v2")
	m.Changed(storage.Resource{GroupResource: widgets, Identity: boundIdentity}, fresh)
	m.Changed(storedElsewhere, stale(logicalcluster.Root))
	m.Changed(storage.Resource{GroupResource: widgets}, stale(logicalcluster.Root))
	m.DefinitionsChanged(logicalcluster.SystemShard)
	// What was heard before has been looked at when this one has been.
	o.add(logicalcluster.SystemShard, "z")
	m.Changed(storage.Resource{GroupResource: widgets, Identity: boundIdentity}, stale(logicalcluster.SystemShard))
	eventually(t, "it is migrated", func() bool { return o.left(logicalcluster.SystemShard) == 0 })
	if o.left(logicalcluster.Root) != 1 {
		t.Error("what is not bound, or not stale, was looked at")
	}
}
