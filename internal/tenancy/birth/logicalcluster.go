package birth

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

func logicalCluster(in Input, creator *authenticationv1.UserInfo) (*corev1alpha1.LogicalCluster, error) {
	url, err := tenancy.ClusterURL(in.Shard.ExternalURL, in.Cluster)
	if err != nil {
		return nil, err
	}
	lc := &corev1alpha1.LogicalCluster{
		TypeMeta: metav1.TypeMeta{
			APIVersion: corev1alpha1.GroupVersion.String(),
			Kind:       "LogicalCluster",
		},
		ObjectMeta: metav1.ObjectMeta{
			Name:        corev1alpha1.LogicalClusterName,
			Generation:  1,
			Annotations: clusterAnnotations(in),
		},
		Spec: corev1alpha1.LogicalClusterSpec{
			Owner:        owner(in),
			CreatedBy:    creator,
			Initializers: in.Type.Initializers(),
			Terminators:  in.Type.Terminators(),
		},
	}
	in.complete(&lc.ObjectMeta)
	phase.StartInitializing(lc)
	lc.Status.Initializers = waitedFor(in, lc.Spec.Initializers)
	if in.Waiting != nil {
		conditions.Set(lc, *in.Waiting)
	}
	lc = binding.WithLocks(lc, in.Locks)
	return phase.LogicalCluster(phase.LogicalClusterInput{Observed: lc, URL: url, Now: in.Now}), nil
}

func clusterAnnotations(in Input) map[string]string {
	annotations := map[string]string{
		corev1alpha1.ShardAnnotationKey:  in.Shard.Name,
		logicalcluster.PathAnnotationKey: in.path().String(),
	}
	if reference := in.typeReference(); reference != nil {
		annotations[tenancyv1alpha1.TypeAnnotationKey] = tenancy.TypeAnnotation(*reference)
	}
	given := in.annotations()
	for _, key := range []string{tenancyv1alpha1.OwnerAnnotationKey, tenancyv1alpha1.RequiredGroupsAnnotationKey} {
		if value, ok := given[key]; ok {
			annotations[key] = value
		}
	}
	return annotations
}

// path returns the canonical path of the new workspace.
func (in Input) path() logicalcluster.Path {
	if in.Workspace == nil {
		return in.Rootless.Path
	}
	return in.Parent.Path.Join(in.Workspace.Name)
}

// annotations returns those that go along into the logical cluster.
func (in Input) annotations() map[string]string {
	if in.Workspace == nil {
		return map[string]string{tenancyv1alpha1.OwnerAnnotationKey: in.Rootless.Owner}
	}
	return in.Workspace.Annotations
}

// typeReference returns the type as it was asked for.
func (in Input) typeReference() *tenancyv1alpha1.WorkspaceTypeReference {
	if in.Workspace == nil {
		reference := in.Type.Type.Reference()
		return &reference
	}
	return in.Workspace.Spec.Type
}

func owner(in Input) *corev1alpha1.LogicalClusterOwner {
	if in.Workspace == nil {
		return nil
	}
	return &corev1alpha1.LogicalClusterOwner{
		APIVersion: tenancyv1alpha1.GroupVersion.String(),
		Resource:   "workspaces",
		Name:       in.Workspace.Name,
		Cluster:    in.Parent.Cluster.String(),
		UID:        in.Workspace.UID,
	}
}
