package crd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/schema"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// instancesCheck is how long to wait before looking again whether instances with
	// finalizers have gone.
	instancesCheck = time.Second

	// coreGroup is what definitions call the core group, whose real name is empty.
	coreGroup = "core"
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
	// definition whose last finalizer goes is deleted. lc, unless it is nil, is written in
	// the same transaction.
	UpdateStatus(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition,
		lc *corev1alpha1.LogicalCluster) (*apiextensionsv1.CustomResourceDefinition, error)
}

// Clusters reads and writes LogicalClusters, in which it stands who has which resources. If
// there is none, the error is a NotFound Status.
type Clusters interface {
	GetCached(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
	GetCurrent(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
	Update(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error
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
	Clusters    Clusters
	Catalog     Catalog
	// Reserved returns the names that built-in, system and bound resources have in a group
	// of a cluster, none older than the last write. The core group is the empty one.
	Reserved func(ctx context.Context, cluster logicalcluster.Name, group string) (Names, error)
	// Locks keep apart who takes and gives back resources of a cluster.
	Locks *controller.ClusterLocks
	// Enqueue makes the controller look at a definition.
	Enqueue func(controller.Key)
	// Now returns the time for conditions.
	Now func() time.Time
}

// Reconciler brings definitions to the state they should be in. It may be called
// concurrently, for different keys.
type Reconciler struct {
	config Config
}

// NewReconciler returns a Reconciler.
func NewReconciler(config Config) *Reconciler {
	return &Reconciler{config: config}
}

// Reconcile looks at the definition that key names.
func (r *Reconciler) Reconcile(ctx context.Context, key controller.Key) error {
	crd, err := r.config.Definitions.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		r.config.Catalog.Delete(key.Cluster, key.Name)
		if err := r.unlock(ctx, key); err != nil {
			return err
		}
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
	defer r.config.Locks.Lock(key.Cluster)()
	// Before the names are read: whoever takes some afterwards changes it.
	lc, err := r.clusterOf(ctx, key.Cluster, crd)
	if err != nil {
		return err
	}
	inUse, err := r.namesInUse(ctx, key, crd)
	if err != nil {
		return err
	}
	status := Decide(Input{CRD: crd, InUse: inUse, Now: r.now()})
	lc = locked(lc, crd, status)
	if equality.Semantic.DeepEqual(crd.Status, status) && lc == nil {
		return nil
	}
	// The API comes before the status that announces it: whoever reads that the
	// definition is established finds it served.
	announced := *crd
	announced.Status = status
	if err := r.config.Catalog.Set(key.Cluster, &announced); err != nil {
		return err
	}
	updated, err := r.write(ctx, key, &announced, lc)
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
	err := r.writeTermination(ctx, key, crd, status, done)
	switch {
	case err != nil || in.Err != nil:
		return errors.Join(in.Err, err)
	case !done:
		return controller.After(instancesCheck)
	default:
		return nil
	}
}

// writeTermination writes how far the end of a definition has come. What it had is free in
// the transaction by which it goes.
func (r *Reconciler) writeTermination(ctx context.Context, key controller.Key, crd *apiextensionsv1.CustomResourceDefinition,
	status apiextensionsv1.CustomResourceDefinitionStatus, done bool,
) error {
	changed := *crd
	changed.Status = status
	if !done {
		if equality.Semantic.DeepEqual(crd.Status, status) {
			return nil
		}
		_, err := r.write(ctx, key, &changed, nil)
		return err
	}
	changed.Finalizers = slices.DeleteFunc(slices.Clone(crd.Finalizers), func(f string) bool {
		return f == apiextensionsv1.CustomResourceCleanupFinalizer
	})
	if len(changed.Finalizers) > 0 {
		_, err := r.write(ctx, key, &changed, nil)
		return err
	}
	defer r.config.Locks.Lock(key.Cluster)()
	lc, err := r.current(ctx, key.Cluster)
	if err != nil {
		return err
	}
	_, err = r.write(ctx, key, &changed, unlocked(lc, schema.ResourceOf(crd)))
	return err
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

// write writes the status and the finalizers of a changed definition, and lc with them
// unless that is nil. It returns nil if somebody else was faster: then an event brings the
// definition back. If it is the LogicalCluster that has changed, nothing would: that is a
// conflict.
func (r *Reconciler) write(ctx context.Context, key controller.Key, changed *apiextensionsv1.CustomResourceDefinition,
	lc *corev1alpha1.LogicalCluster,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	updated, err := r.config.Definitions.UpdateStatus(ctx, key.Cluster, changed, lc)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && lc == nil {
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
	reserved, err := r.config.Reserved(ctx, key.Cluster, group)
	return inUse.Union(reserved), err
}

// Freed makes the controller look at the definitions of a group of a cluster that lack a
// name, since one may be free now. The core group is the empty one.
func (r *Reconciler) Freed(ctx context.Context, cluster logicalcluster.Name, group string) error {
	if group == "" {
		group = coreGroup
	}
	return r.enqueueConflicting(ctx, controller.Key{Cluster: cluster}, group)
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
