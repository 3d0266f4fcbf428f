package server

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/server/options"
	"github.com/forkless/kcp/pkg/tenancy"
)

// bootstrapper is the user who owns the root workspace.
const bootstrapper = `{"username":"system:kcp-bootstrapper"}`

// ownCluster is the LogicalCluster of the root workspace, or of the shard itself. These have
// no owner and wait for nobody, so they are born ready. The shard's is no workspace, and of
// no type.
func ownCluster(cluster logicalcluster.Name, externalURL, shard string) (*corev1alpha1.LogicalCluster, error) {
	url, err := tenancy.ClusterURL(externalURL, cluster)
	if err != nil {
		return nil, err
	}
	annotations := map[string]string{corev1alpha1.ShardAnnotationKey: shard}
	if cluster == logicalcluster.Root {
		annotations[tenancyv1alpha1.TypeAnnotationKey] = "root:root"
		annotations[tenancyv1alpha1.OwnerAnnotationKey] = bootstrapper
	}
	lc := &corev1alpha1.LogicalCluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1alpha1.GroupVersion.String(), Kind: "LogicalCluster"},
		ObjectMeta: metav1.ObjectMeta{Name: corev1alpha1.LogicalClusterName, Annotations: annotations},
	}
	return phase.LogicalCluster(phase.LogicalClusterInput{Observed: lc, URL: url, Now: metav1.Now().Rfc3339Copy()}), nil
}

// ownShard is the Shard object of this server.
func ownShard(name string, urls options.URLs) *corev1alpha1.Shard {
	return &corev1alpha1.Shard{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1alpha1.GroupVersion.String(), Kind: "Shard"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1alpha1.ShardNameLabelKey: name}},
		Spec: corev1alpha1.ShardSpec{
			BaseURL:             urls.Base,
			ExternalURL:         urls.External,
			VirtualWorkspaceURL: urls.VirtualWorkspace,
		},
	}
}

// defaultAccount is the service account of a namespace. Like that it is left alone once
// it exists.
func defaultAccount(in string) *corev1.ServiceAccount {
	account := namespace.NewDefaultAccount(in)
	account.Annotations = map[string]string{corev1alpha1.CreateOnlyAnnotationKey: "true"}
	return account
}

// policyResource returns the resource of a role or binding.
func policyResource(object runtime.Object) storage.Resource {
	switch object.(type) {
	case *rbacv1.Role:
		return cached.Roles
	case *rbacv1.RoleBinding:
		return cached.RoleBindings
	case *rbacv1.ClusterRole:
		return cached.ClusterRoles
	default:
		return cached.ClusterRoleBindings
	}
}

// versioned returns stored objects of built-in kinds in v1, and others as they are.
func versioned(stored runtime.Object) (runtime.Object, error) {
	kinds, _, err := builtin.Scheme.ObjectKinds(stored)
	if runtime.IsNotRegisteredError(err) {
		return stored, nil
	}
	if err != nil {
		return nil, err
	}
	converted, err := builtin.Scheme.ConvertToVersion(stored, schema.GroupVersion{Group: kinds[0].Group, Version: "v1"})
	if err != nil {
		return nil, err
	}
	// Wanted objects say their kind by their type alone.
	converted.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return converted, nil
}
