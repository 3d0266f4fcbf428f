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
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/owners"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// lookAgain is how often a workspace without a place is looked at, in case its type or
// its parent has come.
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
	chosen, displaced, err := r.place(ctx, ws)
	switch {
	case err != nil:
		return err
	case displaced != nil:
		// Whatever changes about the shards makes the controller look again.
		return r.unscheduled(ctx, parent, ws, *displaced)
	}
	newborn, err := r.bear(ctx, parent, parentCluster, ws, chosen)
	if err != nil {
		if tenancy.IsUnresolved(err) {
			unresolved := phase.Displacement{Reason: tenancyv1alpha1.ReasonUnschedulable, Message: err.Error()}
			if err := r.unscheduled(ctx, parent, ws, unresolved); err != nil {
				return err
			}
			return controller.After(lookAgain)
		}
		return err
	}
	return r.write(ctx, parent, parentCluster, newborn)
}

// newborn is a workspace that is to be stored.
type newborn struct {
	cluster  logicalcluster.Name
	objects  *birth.Objects
	bindings *defaultbindings.Plan
}

// place chooses a shard, or says why there is none.
func (r *reconciler) place(ctx context.Context, ws *tenancyv1alpha1.Workspace) (*corev1alpha1.Shard, *phase.Displacement, error) {
	shards, err := r.Shards.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var selector *metav1.LabelSelector
	if ws.Spec.Location != nil {
		selector = ws.Spec.Location.Selector
	}
	chosen, err := shard.Choose(shards, selector, r.pick)
	if errors.Is(err, shard.ErrNone) {
		return nil, &phase.Displacement{Reason: tenancyv1alpha1.ReasonUnschedulable, Message: err.Error()}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := shard.CheckURL(chosen); err != nil {
		return nil, &phase.Displacement{Reason: tenancyv1alpha1.ReasonUnknown, Message: err.Error()}, nil //nolint:nilerr // because it is told to whoever reads the workspace
	}
	return chosen, nil, nil
}

func (r *reconciler) bear(ctx context.Context, parent logicalcluster.Name, parentCluster *corev1alpha1.LogicalCluster,
	ws *tenancyv1alpha1.Workspace, chosen *corev1alpha1.Shard,
) (*newborn, error) {
	place := tenancy.PlaceOf(parent, parentCluster)
	reference := tenancyv1alpha1.WorkspaceTypeReference{}
	if ws.Spec.Type != nil {
		reference = *ws.Spec.Type
	}
	set, err := r.Types.Resolve(ctx, place, reference)
	if err != nil {
		return nil, fmt.Errorf("resolving the type: %w", err)
	}
	now, cluster := metav1.NewTime(r.Clock.Now()), logicalcluster.Generate()
	plan, err := r.planBindings(ctx, tenancy.Place{Cluster: cluster, Path: place.Path.Join(ws.Name)}, set, ws, now)
	if err != nil {
		return nil, err
	}
	born, err := birth.Of(birth.Input{
		Workspace: ws,
		Parent:    place,
		Type:      set,
		Cluster:   cluster,
		Shard: birth.Shard{
			Name:        chosen.Name,
			ExternalURL: chosen.Spec.ExternalURL,
			Region:      chosen.Labels[corev1alpha1.RegionLabelKey],
		},
		Locks:   plan.Locks,
		Waiting: plan.Waiting(now),
		RootCA:  r.RootCA,
		Now:     now,
		NewUID:  uuid.NewUUID,
	})
	return &newborn{cluster: cluster, objects: born, bindings: plan}, err
}

// planBindings plans the default bindings of a new workspace.
func (r *reconciler) planBindings(ctx context.Context, place tenancy.Place, set *tenancy.Set, ws *tenancyv1alpha1.Workspace, now metav1.Time) (*defaultbindings.Plan, error) {
	wanted := defaultbindings.OfType(set, place.Cluster)
	creator, err := owners.Creator(ws)
	if err != nil {
		return nil, err
	}
	plan, err := r.Bindings.Plan(ctx, defaultbindings.Input{
		Consumer: place, Wanted: wanted, Who: creator, Decide: true, Now: now, NewUID: uuid.NewUUID,
	})
	if err != nil {
		return nil, fmt.Errorf("planning the default bindings: %w", err)
	}
	return plan, nil
}

// write stores a new workspace, all of it or nothing.
func (r *reconciler) write(ctx context.Context, parent logicalcluster.Name, parentCluster *corev1alpha1.LogicalCluster, n *newborn) error {
	batch, born := r.Layer.NewBatch(), n.objects
	batch.Require(cached.LogicalClusters, parent, parentCluster)
	batch.Update(cached.Workspaces, parent, born.Workspace)
	born.AddTo(batch, n.cluster)
	n.bindings.AddTo(batch)
	// Whoever reads that it is ready finds its APIs.
	n.bindings.Announce(r.Catalog, 0)
	if err := batch.Commit(ctx); err != nil {
		n.bindings.Withdraw(r.Catalog)
		return err
	}
	n.bindings.Announce(r.Catalog, batch.Revision())
	return nil
}

// unscheduled says on the workspace why it has no place.
func (r *reconciler) unscheduled(ctx context.Context, parent logicalcluster.Name, ws *tenancyv1alpha1.Workspace, why phase.Displacement) error {
	wanted := phase.Unscheduled(ws, why, metav1.NewTime(r.Clock.Now()))
	if wanted == ws {
		return nil
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.Workspaces, parent, wanted)
	return batch.Commit(ctx)
}
