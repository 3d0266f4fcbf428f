package logicalcluster

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	workers = 8

	adminBindingName = "workspace-admin"
)

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	Clusters   cached.LogicalClusterReader
	Workspaces cached.WorkspaceReader
	Shards     cached.ShardReader
	Policy     *cached.Policy
	// OpenStores makes sure that the stores of the custom resources of a cluster are open.
	OpenStores func(context.Context, logicalcluster.Name) error
	// Trees hears of the clusters there are before any of them is said to be ready.
	Trees Trees
	// Cut ends the requests that run in a cluster.
	Cut   func(logicalcluster.Name)
	Clock clock.PassiveClock
}

// Trees remembers the clusters at the top of trees of their own.
type Trees interface {
	// Set notes what the LogicalCluster of a cluster says; lc is nil if there is none.
	Set(cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster)
	// Clusters returns those that are remembered.
	Clusters() []logicalcluster.Name
}

type reconciler struct {
	Config
	waiting *ending
}

// New returns the controller, and what has to hear of all objects for it.
func New(config Config) (*controller.Controller, controller.Listener, error) {
	r := &reconciler{config, &ending{}}
	clusters, ok := config.Layer.Store(cached.LogicalClusters)
	if !ok {
		return nil, nil, errors.New("the store of logical clusters is not open")
	}
	bindings, ok := config.Layer.Store(cached.ClusterRoleBindings)
	if !ok {
		return nil, nil, errors.New("the store of cluster role bindings is not open")
	}
	shards, ok := config.Layer.Store(cached.Shards)
	if !ok {
		return nil, nil, errors.New("the store of shards is not open")
	}
	c := controller.New(controller.Options{
		Name:    "logicalcluster",
		Workers: workers,
		Sources: []controller.Source{
			{Store: clusters, Prefix: cached.LogicalClusters.Prefix(), Keys: controller.OwnKey, Known: r.known},
			{Store: bindings, Prefix: cached.ClusterRoleBindings.Prefix(), Keys: clusterOfAdminBinding},
			{Store: shards, Prefix: cached.Shards.Prefix(), Keys: r.clustersOfShard},
		},
		Reconcile: r.reconcile,
	})
	r.waiting.enqueue = c.EnqueueAfter
	return c, r.waiting, nil
}

// known returns the keys of the clusters that somebody remembers something of.
func (r *reconciler) known() []controller.Key {
	var keys []controller.Key
	for _, cluster := range r.Trees.Clusters() {
		keys = append(keys, controller.Key{Cluster: cluster, Name: corev1alpha1.LogicalClusterName})
	}
	return keys
}

// clusterOfAdminBinding returns the key of the LogicalCluster that an admin binding
// belongs to, so that a deleted one comes back.
func clusterOfAdminBinding(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	if len(keys) != 1 || keys[0].Name != adminBindingName {
		return nil
	}
	return []controller.Key{{Cluster: keys[0].Cluster, Name: corev1alpha1.LogicalClusterName}}
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	// What the watch cache does not have yet it will tell of.
	lc, err := r.Clusters.GetCached(ctx, key.Cluster)
	if apierrors.IsNotFound(err) {
		r.Trees.Set(key.Cluster, nil)
		return r.forget(ctx, key.Cluster)
	}
	if err != nil {
		return err
	}
	r.Trees.Set(key.Cluster, lc)
	if lc.DeletionTimestamp.IsZero() {
		err = r.keep(ctx, key.Cluster, lc)
	} else {
		err = r.end(ctx, key.Cluster, lc)
	}
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.LogicalClusters.GroupResource, key.Cluster.String(), err)
	}
	return err
}

// keep brings a cluster that is not being deleted to what it should be.
func (r *reconciler) keep(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	url, err := r.url(ctx, cluster, lc)
	if err != nil {
		return fmt.Errorf("finding the address: %w", err)
	}
	batch := r.Layer.NewBatch()
	wanted := phase.LogicalCluster(phase.LogicalClusterInput{Observed: lc, URL: url, Now: r.now()})
	if wanted != lc {
		batch.Update(cached.LogicalClusters, cluster, wanted)
	}
	// Nothing is put into a cluster that has gone, whatever the watch cache still says.
	batch.Require(cached.LogicalClusters, cluster, lc)
	if err := r.keepAdmin(ctx, batch, cluster, lc); err != nil {
		return fmt.Errorf("keeping the creator an admin: %w", err)
	}
	if wanted.Status.Phase == corev1alpha1.PhaseInactive && lc.Status.Phase != corev1alpha1.PhaseInactive {
		// New requests are refused already. It is done once, since those who watch the
		// LogicalCluster itself may come back; and before anything is written, since nobody
		// would do it after a failure of which only the answer got lost.
		r.Cut(cluster)
		r.Cut(logicalcluster.Wildcard)
	}
	return batch.Commit(ctx)
}

func (r *reconciler) now() metav1.Time { return metav1.NewTime(r.Clock.Now()) }
