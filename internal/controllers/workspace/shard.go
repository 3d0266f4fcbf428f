package workspace

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/shard"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// located says where a workspace that has a place is reached now: its shard may have got
// another address, or be gone. An empty URL is not known.
func (r *reconciler) located(ctx context.Context, ws *tenancyv1alpha1.Workspace, lc *corev1alpha1.LogicalCluster) (url string, displaced *phase.Displacement, err error) {
	name := ws.Annotations[corev1alpha1.ShardAnnotationKey]
	if name == "" || ws.Spec.Cluster == "" || !ws.DeletionTimestamp.IsZero() {
		return "", nil, nil
	}
	on, err := r.Shards.Get(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return "", &phase.Displacement{
			Reason:  tenancyv1alpha1.ReasonUnschedulable,
			Message: fmt.Sprintf("the shard %q that the workspace is on does not exist any more", name),
		}, nil
	case err != nil:
		return "", nil, err
	}
	if err := shard.CheckURL(on); err != nil {
		return "", &phase.Displacement{Reason: tenancyv1alpha1.ReasonUnknown, Message: err.Error()}, nil //nolint:nilerr // because it is told to whoever reads the workspace
	}
	if lc == nil {
		return "", nil, nil
	}
	place, err := tenancy.PlaceOfStored(lc)
	if err != nil {
		return "", nil, err
	}
	url, err = tenancy.WorkspaceURL(on.Spec.ExternalURL, place.Path)
	return url, nil, err
}

// ofShard returns the keys of the workspaces that a change of a shard may concern: those
// without a place, and those that are on it and do not look like it.
func (r *reconciler) ofShard(obj runtime.Object) []controller.Key {
	changed, ok := obj.(*corev1alpha1.Shard)
	if !ok {
		return nil
	}
	ctx := context.Background()
	all, err := r.Workspaces.List(ctx, logicalcluster.Wildcard)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Looking for the workspaces of a shard", "shard", changed.Name)
		return nil
	}
	_, err = r.Shards.Get(ctx, changed.Name)
	gone := err != nil
	var keys []controller.Key
	for i := range all {
		ws := &all[i]
		if waitsForShard(ws) || ws.Annotations[corev1alpha1.ShardAnnotationKey] == changed.Name && (gone || !looksLike(ws, changed)) {
			keys = append(keys, controller.OwnKey(ws)...)
		}
	}
	return keys
}

func waitsForShard(ws *tenancyv1alpha1.Workspace) bool {
	return ws.Spec.Cluster == "" && ws.Spec.Mount == nil
}

// looksLike says whether a workspace is where its shard says.
func looksLike(ws *tenancyv1alpha1.Workspace, on *corev1alpha1.Shard) bool {
	return ws.Status.Phase != corev1alpha1.PhaseUnavailable && strings.HasPrefix(ws.Spec.URL, strings.TrimRight(on.Spec.ExternalURL, "/")+"/clusters/")
}
