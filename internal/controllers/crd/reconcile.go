package crd

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// instancesCheck is how long to wait before looking again whether instances with
	// finalizers have gone.
	instancesCheck = time.Second

	// coreGroup is what definitions call the core group, whose real name is empty.
	coreGroup = "core"

	lockCount = 64
)

// Definitions reads and writes CustomResourceDefinitions.
type Definitions interface {
	// Get returns a definition; if there is none, the error is a NotFound Status. The
	// result is only read.
	Get(ctx context.Context, cluster logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error)
	// List returns the definitions of a cluster, none older than the last write: names
	// are claimed by it. The results are only read.
	List(ctx context.Context, cluster logicalcluster.Name) ([]*apiextensionsv1.CustomResourceDefinition, error)
	// UpdateStatus writes status and finalizers, and returns what has been stored. A
	// definition whose last finalizer goes is deleted.
	UpdateStatus(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error)
}

// Catalog is told of definitions and knows their instances.
type Catalog interface {
	Set(cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error
	Delete(cluster logicalcluster.Name, name string)
	DeleteInstances(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error
	Instances(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) ([]catalog.Instance, error)
}

// Config is what a Reconciler needs. All fields are required.
type Config struct {
	Definitions Definitions
	Catalog     Catalog
	// Reserved returns the names that built-in and system resources have in a group of
	// a cluster. The core group is the empty one.
	Reserved func(cluster logicalcluster.Name, group string) Names
	// Enqueue makes the controller look at a definition.
	Enqueue func(controller.Key)
	// Now returns the time for conditions.
	Now func() time.Time
}

// Reconciler brings definitions to the state they should be in. It may be called
// concurrently, for different keys.
type Reconciler struct {
	config Config
	seed   maphash.Seed
	// locks keep definitions of one cluster from claiming names at the same time.
	locks [lockCount]sync.Mutex
}

// NewReconciler returns a Reconciler.
func NewReconciler(config Config) *Reconciler {
	return &Reconciler{config: config, seed: maphash.MakeSeed()}
}

// Reconcile looks at the definition that key names.
func (r *Reconciler) Reconcile(ctx context.Context, key controller.Key) error {
	crd, err := r.config.Definitions.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		r.config.Catalog.Delete(key.Cluster, key.Name)
		_, group, _ := strings.Cut(key.Name, ".")
		return r.enqueueConflicting(ctx, key, group)
	}
	if err != nil {
		return err
	}
	// The catalog comes first: instances are counted only when no more can come.
	if err := r.config.Catalog.Set(key.Cluster, crd); err != nil {
		return err
	}
	if crd.DeletionTimestamp != nil {
		return r.terminate(ctx, key, crd)
	}
	return r.establish(ctx, key, crd)
}

// establish writes the status of a definition that is to stay.
func (r *Reconciler) establish(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition) error {
	lock := &r.locks[maphash.Comparable(r.seed, key.Cluster)%lockCount]
	lock.Lock()
	defer lock.Unlock()
	inUse, err := r.namesInUse(ctx, key, crd)
	if err != nil {
		return err
	}
	status := Decide(Input{CRD: crd, InUse: inUse, Now: r.now()})
	if equality.Semantic.DeepEqual(crd.Status, status) {
		return nil
	}
	// The API comes before the status that announces it: whoever reads that the
	// definition is established finds it served.
	announced := *crd
	announced.Status = status
	if err := r.config.Catalog.Set(key.Cluster, &announced); err != nil {
		return err
	}
	updated, err := r.write(ctx, key, crd, status, crd.Finalizers)
	if err != nil || updated == nil {
		return errors.Join(err, r.config.Catalog.Set(key.Cluster, crd))
	}
	if equality.Semantic.DeepEqual(crd.Status.AcceptedNames, status.AcceptedNames) {
		return nil
	}
	return r.enqueueConflicting(ctx, key, crd.Spec.Group)
}

// terminate removes the instances of a definition that is being deleted, and then
// lets it go.
func (r *Reconciler) terminate(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition) error {
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return nil
	}
	in := Termination{CRD: crd, Now: r.now()}
	if isTrue(crd, apiextensionsv1.Established) {
		in.Remaining, in.Err = r.removeInstances(ctx, key, crd)
	}
	status, done := DecideTermination(in)
	finalizers := crd.Finalizers
	if done {
		finalizers = slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
			return f == apiextensionsv1.CustomResourceCleanupFinalizer
		})
	}
	_, err := r.write(ctx, key, crd, status, finalizers)
	switch {
	case err != nil || in.Err != nil:
		return errors.Join(in.Err, err)
	case !done:
		return controller.After(instancesCheck)
	default:
		return nil
	}
}

// removeInstances asks all instances to go and returns those that have not yet.
func (r *Reconciler) removeInstances(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition) ([]catalog.Instance, error) {
	remaining, err := r.config.Catalog.Instances(ctx, key.Cluster, crd)
	if err != nil || len(remaining) == 0 {
		return nil, err
	}
	if err := r.config.Catalog.DeleteInstances(ctx, key.Cluster, crd); err != nil {
		return nil, err
	}
	return r.config.Catalog.Instances(ctx, key.Cluster, crd)
}

// write writes status and finalizers if they differ from crd's. It returns nil if
// there was nothing to write, or if somebody else was faster: then an event brings
// the definition back.
func (r *Reconciler) write(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition,
	status apiextensionsv1.CustomResourceDefinitionStatus, finalizers []string,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	if equality.Semantic.DeepEqual(crd.Status, status) && slices.Equal(crd.Finalizers, finalizers) {
		return nil, nil
	}
	changed := *crd
	changed.Status = status
	changed.Finalizers = finalizers
	updated, err := r.config.Definitions.UpdateStatus(ctx, key.Cluster, &changed)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil, nil
	}
	return updated, err
}

func (r *Reconciler) namesInUse(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition) (Names, error) {
	all, err := r.config.Definitions.List(ctx, key.Cluster)
	if err != nil {
		return Names{}, err
	}
	inUse := NewNames()
	for _, other := range all {
		if other.Name != crd.Name && other.Spec.Group == crd.Spec.Group {
			inUse.Add(&other.Status.AcceptedNames)
		}
	}
	group := crd.Spec.Group
	if group == coreGroup {
		group = ""
	}
	return inUse.Union(r.config.Reserved(key.Cluster, group)), nil
}

// enqueueConflicting makes the controller look at the other definitions of group that
// lack a name, since one may be free now.
func (r *Reconciler) enqueueConflicting(ctx context.Context, key controller.Key, group string) error {
	all, err := r.config.Definitions.List(ctx, key.Cluster)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Name != key.Name && other.Spec.Group == group && !isTrue(other, apiextensionsv1.NamesAccepted) {
			r.config.Enqueue(controller.Key{Cluster: key.Cluster, Name: other.Name})
		}
	}
	return nil
}

func (r *Reconciler) now() metav1.Time { return metav1.NewTime(r.config.Now()) }
