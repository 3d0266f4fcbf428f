package logicalcluster

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/controller"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// url returns the address of a cluster on the shard that it is on; empty if nobody knows. The
// Workspace says what is wrong then.
func (r *reconciler) url(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (string, error) {
	name := lc.Annotations[corev1alpha1.ShardAnnotationKey]
	if name == "" {
		return "", nil
	}
	shard, err := r.Shards.Get(ctx, name)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	url, err := tenancy.ClusterURL(shard.Spec.ExternalURL, cluster)
	if err != nil {
		return "", nil //nolint:nilerr // because that address is no better than the one it has
	}
	return url, nil
}

// clustersOfShard returns the keys of the clusters on a shard that have another address than
// it has.
func (r *reconciler) clustersOfShard(obj runtime.Object) []controller.Key {
	shard, ok := obj.(*corev1alpha1.Shard)
	if !ok {
		return nil
	}
	ctx := context.Background()
	all, err := r.Clusters.List(ctx)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Looking for the logical clusters of a shard", "shard", shard.Name)
		return nil
	}
	prefix := strings.TrimRight(shard.Spec.ExternalURL, "/") + "/clusters/"
	var keys []controller.Key
	for i := range all {
		if lc := &all[i]; lc.Annotations[corev1alpha1.ShardAnnotationKey] == shard.Name && !strings.HasPrefix(lc.Status.URL, prefix) {
			keys = append(keys, controller.OwnKey(lc)...)
		}
	}
	return keys
}
