package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	errBroken = errors.New("broken")
	root      = logicalcluster.Root
)

// world holds definitions and instances in memory. Every write is enqueued, as a
// watch would do.
type world struct {
	t *testing.T

	mu        sync.Mutex
	crds      map[string]*apiextensionsv1.CustomResourceDefinition
	instances []catalog.Instance
	served    map[string]bool
	broken    error
	queue     []controller.Key
	writes    int
	lc        corev1alpha1.LogicalCluster
	*Reconciler
}

func newWorld(t *testing.T, crds ...*apiextensionsv1.CustomResourceDefinition) *world {
	w := &world{t: t, crds: map[string]*apiextensionsv1.CustomResourceDefinition{}, served: map[string]bool{}}
	w.Reconciler = NewReconciler(Config{
		Definitions: w,
		Catalog:     served{w},
		Clusters:    clusters{w},
		Locks:       controller.NewClusterLocks(),
		Reserved: func(_ context.Context, _ logicalcluster.Name, group string) (Names, error) {
			if group == "" {
				return NewNames(apiextensionsv1.CustomResourceDefinitionNames{Plural: "configmaps", Kind: "ConfigMap"}), nil
			}
			return NewNames(), nil
		},
		Enqueue: w.enqueue,
		Now:     func() time.Time { return now.Time },
	})
	for _, crd := range crds {
		w.crds[crd.Name] = crd
		w.enqueue(controller.Key{Cluster: root, Name: crd.Name})
	}
	return w
}

func (w *world) enqueue(key controller.Key) { w.queue = append(w.queue, key) }

// run reconciles until nothing is to be done or somebody waits, and returns the last
// error.
func (w *world) run() (err error) {
	w.t.Helper()
	for range 100 {
		if len(w.queue) == 0 {
			return err
		}
		key := w.queue[0]
		w.queue = w.queue[1:]
		err = w.Reconcile(w.t.Context(), key)
	}
	w.t.Fatal("reconciling does not come to an end")
	return nil
}

func (w *world) Get(_ context.Context, _ logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	if crd, ok := w.crds[name]; ok {
		return crd, nil
	}
	return nil, apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), name)
}

func (w *world) List(context.Context, logicalcluster.Name) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, crd := range w.crds {
		all = append(all, crd)
	}
	return all, nil
}

func (w *world) UpdateStatus(_ context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition,
	lc *corev1alpha1.LogicalCluster,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if lc != nil {
		w.lc = *lc
	}
	w.enqueue(controller.Key{Cluster: cluster, Name: crd.Name})
	if crd.DeletionTimestamp != nil && len(crd.Finalizers) == 0 {
		delete(w.crds, crd.Name)
		return crd, nil
	}
	w.crds[crd.Name] = crd.DeepCopy()
	return crd, nil
}

// clusters has the only LogicalCluster of a world.
type clusters struct{ *world }

func (c clusters) GetCached(context.Context, logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	return c.lc.DeepCopy(), nil
}

func (c clusters) GetCurrent(context.Context, logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	return c.lc.DeepCopy(), nil
}

func (c clusters) Update(_ context.Context, _ logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	c.lc = *lc
	return nil
}

// served is the catalog of a world.
type served struct{ *world }

func (s served) Set(_ logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	s.served[crd.Name] = isTrue(crd, apiextensionsv1.Established)
	return nil
}

func (s served) Delete(_ logicalcluster.Name, name string) { delete(s.served, name) }

func (s served) DeleteInstances(context.Context, logicalcluster.Name, *apiextensionsv1.CustomResourceDefinition) error {
	s.instances = slices.DeleteFunc(s.instances, func(i catalog.Instance) bool { return len(i.Finalizers) == 0 })
	return s.broken
}

func (s served) Instances(context.Context, logicalcluster.Name, *apiextensionsv1.CustomResourceDefinition) ([]catalog.Instance, error) {
	return s.instances, nil
}

func deleted(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.DeletionTimestamp = &before
	crd.Finalizers = []string{apiextensionsv1.CustomResourceCleanupFinalizer}
}

func TestEstablishing(t *testing.T) {
	w := newWorld(t, newCRD())
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	if w.writes != 1 {
		t.Errorf("%d writes, want 1: all conditions are set at once", w.writes)
	}
	if !w.served["widgets.example.com"] {
		t.Error("an established definition is served")
	}
}

func TestFreedNamesAreTaken(t *testing.T) {
	rival := newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name = "wodgets.example.com"
		crd.Spec.Names.Plural, crd.Spec.Names.Singular, crd.Spec.Names.ListKind = "wodgets", "wodget", "WodgetList"
		crd.Spec.Names.ShortNames = nil
	})
	w := newWorld(t, newCRD(isEstablished), rival)
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	if isTrue(w.crds[rival.Name], apiextensionsv1.Established) {
		t.Fatal("two definitions of one cluster have the same kind")
	}
	delete(w.crds, "widgets.example.com")
	w.enqueue(controller.Key{Cluster: root, Name: "widgets.example.com"})
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	if !isTrue(w.crds[rival.Name], apiextensionsv1.Established) {
		t.Error("the name is free, and its rival was not looked at again")
	}
	if _, ok := w.served["widgets.example.com"]; ok {
		t.Error("a definition that is gone is not served")
	}
}

func TestReservedNames(t *testing.T) {
	w := newWorld(t, newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name, crd.Spec.Group = "configmaps.core", "core"
		crd.Spec.Names.Plural = "configmaps"
	}))
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	if isTrue(w.crds["configmaps.core"], apiextensionsv1.Established) {
		t.Error("a definition in the group core must not hide a built-in resource")
	}
}

func TestTermination(t *testing.T) {
	w := newWorld(t, newCRD(isEstablished, deleted))
	w.instances = []catalog.Instance{{Name: "a"}, {Name: "b", Finalizers: []string{"keep"}}}

	err := w.run()
	if err == nil || w.crds["widgets.example.com"] == nil {
		t.Fatalf("a definition stays until its instances are gone, and is looked at again; err = %v", err)
	}
	if fmt.Sprint(w.instances) != "[{ b [keep]}]" {
		t.Errorf("instances = %v, want the one with a finalizer", w.instances)
	}
	if w.writes != 1 {
		t.Errorf("%d writes, want 1: nothing is written while nothing changes", w.writes)
	}

	w.instances = nil
	w.enqueue(controller.Key{Cluster: root, Name: "widgets.example.com"})
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	if w.crds["widgets.example.com"] != nil {
		t.Error("the last instance gone, the definition goes")
	}
}

func TestTerminationFails(t *testing.T) {
	w := newWorld(t, newCRD(isEstablished, deleted))
	w.instances = []catalog.Instance{{Name: "a"}}
	w.broken = errBroken
	if err := w.Reconcile(t.Context(), w.queue[0]); !errors.Is(err, errBroken) {
		t.Errorf("err = %v, want the one that kept instances from being deleted", err)
	}
	if got := w.crds["widgets.example.com"].Status.Conditions[2].Reason; got != "InstanceDeletionFailed" {
		t.Errorf("reason = %s", got)
	}
}

func TestNamesAreClaimedOnce(t *testing.T) {
	const rivals = 8
	var crds []*apiextensionsv1.CustomResourceDefinition
	for i := range rivals {
		crds = append(crds, newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
			plural := fmt.Sprintf("widgets%d", i)
			crd.ObjectMeta = metav1.ObjectMeta{Name: plural + ".example.com"}
			crd.Spec.Names.Plural = plural
		}))
	}
	w := newWorld(t, crds...)
	var wait sync.WaitGroup
	for _, crd := range crds {
		wait.Go(func() {
			if err := w.establish(t.Context(), controller.Key{Cluster: root, Name: crd.Name}, crd); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	accepted := 0
	for _, crd := range w.crds {
		if crd.Status.AcceptedNames.Kind == "Widget" {
			accepted++
		}
	}
	if accepted != 1 {
		t.Errorf("%d definitions have the same kind, want 1", accepted)
	}
}
