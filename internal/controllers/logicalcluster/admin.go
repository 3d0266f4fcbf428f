package logicalcluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/owners"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// keepAdmin adds the binding of the creator to batch if it is missing.
func (r *reconciler) keepAdmin(ctx context.Context, batch *storage.Batch, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	creator := creatorOf(lc)
	if creator == "" {
		return nil
	}
	inCluster := logicalcluster.NewContext(ctx, cluster)
	_, err := r.Policy.GetClusterRoleBinding(inCluster, adminBindingName)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	binding := rbac.WorkspaceAdmin(creator)
	rest.FillObjectMetaSystemFields(binding)
	batch.Create(cached.ClusterRoleBindings, cluster, binding)
	return nil
}

// creatorOf returns the name of the user who is admin by birth, empty if unknown.
func creatorOf(lc *corev1alpha1.LogicalCluster) string {
	if lc.Spec.CreatedBy != nil && lc.Spec.CreatedBy.Username != "" {
		return lc.Spec.CreatedBy.Username
	}
	owner, ok := lc.Annotations[tenancyv1alpha1.OwnerAnnotationKey]
	if !ok {
		return ""
	}
	info, err := owners.Decode(owner)
	if err != nil {
		return ""
	}
	return info.Username
}
