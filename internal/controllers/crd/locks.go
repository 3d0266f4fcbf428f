package crd

import (
	"context"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/schema"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// clusterOf returns the LogicalCluster in which it has to stand that crd has its resource;
// nil if crd takes nothing that it has not got already, or its cluster has none.
func (r *Reconciler) clusterOf(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) (*corev1alpha1.LogicalCluster, error) {
	if isTrue(crd, apiextensionsv1.Established) && equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) {
		lc, err := r.config.Clusters.GetCached(ctx, cluster)
		if err == nil && binding.LocksOf(lc)[binding.LockKey(schema.ResourceOf(crd))].CRD {
			return nil, nil
		}
	}
	return r.current(ctx, cluster)
}

// current returns the LogicalCluster of a cluster, nil if it has none.
func (r *Reconciler) current(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	if cluster.IsSystem() {
		return nil, nil
	}
	lc, err := r.config.Clusters.GetCurrent(ctx, cluster)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return lc, err
}

// locked returns lc as it has to be written together with a new status of crd: so that it
// says that crd has its resource once it is established, and so that nobody else has taken
// names in the meantime. It returns nil if nothing is taken.
func locked(lc *corev1alpha1.LogicalCluster, crd *apiextensionsv1.CustomResourceDefinition, status apiextensionsv1.CustomResourceDefinitionStatus) *corev1alpha1.LogicalCluster {
	if lc == nil {
		return nil
	}
	wanted := lc
	after := &apiextensionsv1.CustomResourceDefinition{Status: status}
	if isTrue(after, apiextensionsv1.Established) {
		wanted = binding.WithLocks(lc, binding.LocksOf(lc).With(binding.Lock{CRD: true}, schema.ResourceOf(crd)))
	}
	if wanted == lc && equality.Semantic.DeepEqual(crd.Status.AcceptedNames, status.AcceptedNames) {
		return nil
	}
	return wanted
}

// unlocked returns lc without the lock of the definition of a resource; nil if lc is.
func unlocked(lc *corev1alpha1.LogicalCluster, resource apischema.GroupResource) *corev1alpha1.LogicalCluster {
	if lc == nil {
		return nil
	}
	return binding.WithLocks(lc, binding.LocksOf(lc).WithoutCRD(resource))
}

// unlock takes the lock of a definition that is gone out of the LogicalCluster, where it is
// left if somebody else let the definition go.
func (r *Reconciler) unlock(ctx context.Context, key controller.Key) error {
	plural, group, _ := strings.Cut(key.Name, ".")
	if group == coreGroup {
		group = ""
	}
	resource := apischema.GroupResource{Group: group, Resource: plural}
	lc, err := r.config.Clusters.GetCached(ctx, key.Cluster)
	if apierrors.IsNotFound(err) || err == nil && !binding.LocksOf(lc)[binding.LockKey(resource)].CRD {
		return nil
	}
	defer r.config.Locks.Lock(key.Cluster)()
	all, err := r.config.Definitions.List(ctx, key.Cluster)
	if err != nil {
		return err
	}
	for _, crd := range all {
		if crd.Name == key.Name {
			// It is there again.
			return nil
		}
	}
	lc, err = r.current(ctx, key.Cluster)
	if err != nil || lc == nil {
		return err
	}
	if wanted := unlocked(lc, resource); wanted != lc {
		return r.config.Clusters.Update(ctx, key.Cluster, wanted)
	}
	return nil
}
