package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// workers is how many workspaces are looked at at a time. More of them share the disk
// writes of their transactions.
const workers = 16

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	Workspaces cached.WorkspaceReader
	Clusters   cached.LogicalClusterReader
	Shards     cached.ShardReader
	Types      *tenancy.Resolver
	// Bindings plans the default bindings, and Catalog is told of them.
	Bindings *defaultbindings.Planner
	Catalog  defaultbindings.Catalog
	// RootCA are the certificates that clients trust the server by, in PEM.
	RootCA string
	Clock  clock.PassiveClock
}

type reconciler struct {
	Config
	// pick chooses one of n shards.
	pick func(n int) int
}

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	workspaces, err := source(config.Layer, cached.Workspaces, controller.OwnKey)
	if err != nil {
		return nil, err
	}
	clusters, err := source(config.Layer, cached.LogicalClusters, ownerKey)
	if err != nil {
		return nil, err
	}
	r := &reconciler{Config: config, pick: rand.IntN}
	shards, err := source(config.Layer, cached.Shards, r.ofShard)
	if err != nil {
		return nil, err
	}
	return controller.New(controller.Options{
		Name:      "workspace",
		Workers:   workers,
		Sources:   []controller.Source{workspaces, clusters, shards},
		Reconcile: r.reconcile,
	}), nil
}

func source(layer *storage.Layer, resource storage.Resource, keys func(runtime.Object) []controller.Key) (controller.Source, error) {
	store, ok := layer.Store(resource)
	if !ok {
		return controller.Source{}, fmt.Errorf("the store of %s is not open", resource.GroupResource)
	}
	return controller.Source{Store: store, Prefix: resource.Prefix(), Keys: keys}, nil
}

// ownerKey returns the key of the Workspace that owns a LogicalCluster.
func ownerKey(obj runtime.Object) []controller.Key {
	lc, ok := obj.(*corev1alpha1.LogicalCluster)
	if !ok || lc.Spec.Owner == nil {
		return nil
	}
	parent, err := logicalcluster.ParseName(lc.Spec.Owner.Cluster)
	if err != nil {
		return nil
	}
	return []controller.Key{{Cluster: parent, Name: lc.Spec.Owner.Name}}
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	ws, err := r.Workspaces.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	lc, err := r.cluster(ctx, ws)
	if err != nil {
		return err
	}
	url, displaced, err := r.located(ctx, ws, lc)
	if err != nil {
		return err
	}
	plan := phase.Workspace(phase.WorkspaceInput{Observed: ws, Cluster: lc, URL: url, Displaced: displaced, Now: metav1.NewTime(r.Clock.Now())})
	if err := r.apply(ctx, key.Cluster, ws, lc, plan); err != nil {
		return quiet(err)
	}
	if plan.After > 0 {
		return controller.After(plan.After)
	}
	return nil
}

// cluster returns the LogicalCluster of a workspace, nil if there is none.
func (r *reconciler) cluster(ctx context.Context, ws *tenancyv1alpha1.Workspace) (*corev1alpha1.LogicalCluster, error) {
	name, err := logicalcluster.ParseName(ws.Spec.Cluster)
	if err != nil {
		return nil, nil //nolint:nilerr // without a cluster there is no LogicalCluster
	}
	lc, err := r.Clusters.Get(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return lc, err
}

func (r *reconciler) apply(ctx context.Context, parent logicalcluster.Name, ws *tenancyv1alpha1.Workspace,
	lc *corev1alpha1.LogicalCluster, plan phase.WorkspacePlan,
) error {
	batch := r.Layer.NewBatch()
	switch plan.Next {
	case phase.Schedule:
		return r.schedule(ctx, parent, plan.Workspace)
	case phase.DeleteCluster:
		batch.Update(cached.LogicalClusters, logicalcluster.FromAnnotations(lc.Annotations), phase.Deleted(lc, metav1.NewTime(r.Clock.Now())))
	}
	switch {
	case plan.Workspace == ws:
	case !ws.DeletionTimestamp.IsZero() && len(plan.Workspace.Finalizers) == 0:
		batch.Delete(cached.Workspaces, parent, ws)
	default:
		batch.Update(cached.Workspaces, parent, plan.Workspace)
	}
	return batch.Commit(ctx)
}

// quiet makes a conflict one that is retried without a word.
func quiet(err error) error {
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.Workspaces.GroupResource, "", err)
	}
	return err
}
