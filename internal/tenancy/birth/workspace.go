package birth

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// shardHashLength is how much of the hash of a shard's name older clients expect.
const shardHashLength = 8

// workspace returns the Workspace of in with the place that lc describes.
func workspace(in Input, lc *corev1alpha1.LogicalCluster) (*tenancyv1alpha1.Workspace, error) {
	url, err := tenancy.WorkspaceURL(in.Shard.ExternalURL, in.path())
	if err != nil {
		return nil, err
	}
	ws := in.Workspace.DeepCopy()
	ws.TypeMeta = metav1.TypeMeta{APIVersion: tenancyv1alpha1.GroupVersion.String(), Kind: "Workspace"}

	metav1.SetMetaDataAnnotation(&ws.ObjectMeta, corev1alpha1.ShardAnnotationKey, in.Shard.Name)
	metav1.SetMetaDataAnnotation(&ws.ObjectMeta, tenancyv1alpha1.ShardHashAnnotationKey, shardHash(in.Shard.Name))
	metav1.SetMetaDataAnnotation(&ws.ObjectMeta, tenancyv1alpha1.ClusterAnnotationKey, in.Cluster.String())
	if in.Shard.Region == "" {
		delete(ws.Labels, corev1alpha1.RegionLabelKey)
	} else {
		metav1.SetMetaDataLabel(&ws.ObjectMeta, corev1alpha1.RegionLabelKey, in.Shard.Region)
	}

	ws.Spec.Cluster, ws.Spec.URL = in.Cluster.String(), url
	ws.Generation = generation(ws)
	// Whatever was in the way of finding a place, there is one now.
	ws.Status.Phase = corev1alpha1.PhaseScheduling
	return phase.Workspace(phase.WorkspaceInput{Observed: ws, Cluster: lc, Now: in.Now}).Workspace, nil
}

// generation counts the change of the spec, unless it happens before the first write.
func generation(ws *tenancyv1alpha1.Workspace) int64 {
	if ws.ResourceVersion == "" {
		return 1
	}
	return ws.Generation + 1
}

func shardHash(name string) string {
	return logicalcluster.HashBase36([]byte(name))[:shardHashLength]
}
