package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/shard"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy"
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// lookAgain is how often a workspace without a place is looked at, in case its type or
// a shard has come.
const lookAgain = 2 * time.Second

// schedule finds a place for a workspace and bears it there.
func (r *reconciler) schedule(ctx context.Context, parent logicalcluster.Name, ws *tenancyv1alpha1.Workspace) error {
	parentCluster, err := r.Clusters.Get(ctx, parent)
	switch {
	case apierrors.IsNotFound(err):
		// The parent is still to come, or has gone and takes this workspace with it.
		return controller.After(lookAgain)
	case err != nil:
		return err
	case !parentCluster.DeletionTimestamp.IsZero():
		return nil
	}
	chosen, reason, err := r.place(ctx, ws)
	if err != nil {
		if reason == "" {
			return err
		}
		return r.unscheduled(ctx, parent, ws, reason, err)
	}
	born, err := r.bear(ctx, parent, parentCluster, ws, chosen)
	if err != nil {
		if tenancy.IsUnresolved(err) {
			return r.unscheduled(ctx, parent, ws, tenancyv1alpha1.ReasonUnschedulable, err)
		}
		return err
	}
	return r.write(ctx, parent, parentCluster, born)
}

// place chooses a shard. The reason is what to tell if there is none.
func (r *reconciler) place(ctx context.Context, ws *tenancyv1alpha1.Workspace) (*corev1alpha1.Shard, string, error) {
	shards, err := r.Shards.List(ctx)
	if err != nil {
		return nil, "", err
	}
	var selector *metav1.LabelSelector
	if ws.Spec.Location != nil {
		selector = ws.Spec.Location.Selector
	}
	chosen, err := shard.Choose(shards, selector, r.pick)
	if errors.Is(err, shard.ErrNone) {
		return nil, tenancyv1alpha1.ReasonUnschedulable, err
	}
	if err := shard.CheckURL(chosen); err != nil {
		return nil, tenancyv1alpha1.ReasonUnknown, err
	}
	return chosen, "", nil
}

func (r *reconciler) bear(ctx context.Context, parent logicalcluster.Name, parentCluster *corev1alpha1.LogicalCluster,
	ws *tenancyv1alpha1.Workspace, chosen *corev1alpha1.Shard,
) (*birth.Objects, error) {
	place := tenancy.PlaceOf(parent, parentCluster)
	reference := tenancyv1alpha1.WorkspaceTypeReference{}
	if ws.Spec.Type != nil {
		reference = *ws.Spec.Type
	}
	set, err := r.Types.Resolve(ctx, place, reference)
	if err != nil {
		return nil, fmt.Errorf("resolving the type: %w", err)
	}
	return birth.Of(birth.Input{
		Workspace: ws,
		Parent:    place,
		Type:      set,
		Cluster:   logicalcluster.Generate(),
		Shard: birth.Shard{
			Name:        chosen.Name,
			ExternalURL: chosen.Spec.ExternalURL,
			Region:      chosen.Labels[corev1alpha1.RegionLabelKey],
		},
		RootCA: r.RootCA,
		Now:    metav1.NewTime(r.Clock.Now()),
		NewUID: uuid.NewUUID,
	})
}

// write stores a new workspace, all of it or nothing.
func (r *reconciler) write(ctx context.Context, parent logicalcluster.Name, parentCluster *corev1alpha1.LogicalCluster, born *birth.Objects) error {
	cluster, err := logicalcluster.ParseName(born.Workspace.Spec.Cluster)
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	batch.Require(cached.LogicalClusters, parent, parentCluster)
	batch.Update(cached.Workspaces, parent, born.Workspace)
	batch.Create(cached.LogicalClusters, cluster, born.LogicalCluster)
	if born.AdminBinding != nil {
		batch.Create(cached.ClusterRoleBindings, cluster, born.AdminBinding)
	}
	for _, namespace := range born.Namespaces {
		batch.Create(cached.Namespaces, cluster, namespace)
	}
	for _, account := range born.ServiceAccounts {
		batch.Create(cached.ServiceAccounts, cluster, account)
	}
	for _, configMap := range born.ConfigMaps {
		batch.Create(cached.ConfigMaps, cluster, configMap)
	}
	return batch.Commit(ctx)
}

// unscheduled says on the workspace why it has no place, and looks again later.
func (r *reconciler) unscheduled(ctx context.Context, parent logicalcluster.Name, ws *tenancyv1alpha1.Workspace, reason string, cause error) error {
	wanted := phase.Unscheduled(ws, reason, cause.Error(), metav1.NewTime(r.Clock.Now()))
	if wanted != ws {
		batch := r.Layer.NewBatch()
		batch.Update(cached.Workspaces, parent, wanted)
		if err := batch.Commit(ctx); err != nil {
			return err
		}
	}
	return controller.After(lookAgain)
}
