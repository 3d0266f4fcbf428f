package defaultbindings

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

const (
	workers = 4

	// A workspace that waits is looked at again although nothing has happened to what it
	// waits for: its creator may have been allowed to bind what it could not. How soon
	// depends on how long it has waited, since those that are forgotten wait for ever.
	soonest  = 2 * time.Second
	latest   = time.Minute
	patience = 10
)

// Config is what the controller works with. All fields are required.
type Config struct {
	Layer    *storage.Layer
	Clusters cached.LogicalClusterReader
	APIs     *cached.APIs
	Types    *tenancy.Resolver
	Planner  *defaultbindings.Planner
	Clock    clock.PassiveClock
}

type reconciler struct {
	Config
	waiting waiting
}

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	r := &reconciler{Config: config}
	var sources []controller.Source
	for _, source := range []struct {
		resource storage.Resource
		keys     func(runtime.Object) []controller.Key
	}{
		{cached.LogicalClusters, controller.OwnKey},
		{cached.APIBindings, r.waiting.cluster},
		{cached.APIExports, r.waiting.export},
		{cached.WorkspaceTypes, r.waiting.workspaceType},
	} {
		store, ok := config.Layer.Store(source.resource)
		if !ok {
			return nil, fmt.Errorf("the store of %s is not open", source.resource.GroupResource)
		}
		sources = append(sources, controller.Source{Store: store, Prefix: source.resource.Prefix(), Keys: source.keys})
	}
	return controller.New(controller.Options{
		Name: "defaultbindings", Workers: workers, Sources: sources, Reconcile: r.reconcile,
	}), nil
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	lc, err := r.Clusters.GetCached(ctx, key.Cluster)
	if apierrors.IsNotFound(err) {
		r.waiting.remove(key.Cluster)
		return nil
	}
	if err != nil {
		return err
	}
	if !lc.DeletionTimestamp.IsZero() || !unfinished(lc) {
		r.waiting.remove(key.Cluster)
		return nil
	}
	// From now on it is heard of its bindings, so that what is read next may be old.
	r.waiting.add(key.Cluster, interest{anything: true})
	err = r.advance(ctx, key.Cluster, lc)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.LogicalClusters.GroupResource, key.Cluster.String(), err)
	}
	return err
}

// advance takes a workspace one step further.
func (r *reconciler) advance(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) error {
	now := metav1.NewTime(r.Clock.Now())
	plan, problem, err := r.plan(ctx, cluster, lc, now)
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	waits := problem
	if plan != nil {
		plan.AddTo(batch)
		waits = plan.Waiting(now)
	}
	// Who has taken something says so there, as soon as it has.
	wanted := conclude(binding.WithLocks(lc, binding.LocksOf(lc)), waits, now)
	switch {
	case wanted != lc:
		batch.Update(cached.LogicalClusters, cluster, wanted)
	case batch.Len() > 0:
		// Nothing is put into a cluster that has gone, or begun to.
		batch.Require(cached.LogicalClusters, cluster, lc)
	}
	if err := batch.Commit(ctx); err != nil {
		return err
	}
	if waits != nil && defaultbindings.Initializing(wanted) {
		return controller.After(pause(now.Sub(since(wanted, now).Time)))
	}
	return nil
}

// since returns when a workspace began to wait for what it waits for.
func since(lc *corev1alpha1.LogicalCluster, now metav1.Time) metav1.Time {
	if condition, ok := conditions.Get(lc, corev1alpha1.APIBindingsInitialized); ok {
		return condition.LastTransitionTime
	}
	return now
}

// pause is how long a workspace that has waited for some time is left alone.
func pause(waited time.Duration) time.Duration {
	return min(max(waited/patience, soonest), latest)
}
