package clusterroleaggregation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const workers = 2

// Config is what the controller works with.
type Config struct {
	Layer  *storage.Layer
	Policy *cached.Policy
	Clock  clock.PassiveClock
}

type reconciler struct {
	Config
	aggregating aggregating
}

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	store, ok := config.Layer.Store(cached.ClusterRoles)
	if !ok {
		return nil, errors.New("the store of clusterroles is not open")
	}
	r := &reconciler{Config: config, aggregating: aggregating{changes: map[logicalcluster.Name]uint64{}}}
	return controller.New(controller.Options{
		Name:      "clusterrole-aggregation",
		Workers:   workers,
		Sources:   []controller.Source{{Store: store, Prefix: cached.ClusterRoles.Prefix(), Keys: r.keys, Known: r.aggregating.keys}},
		Reconcile: r.reconcile,
	}), nil
}

// keys returns the workspace of a role, as one key, if a role there aggregates. The
// roles depend on each other in ways that are simpler looked at together.
func (r *reconciler) keys(obj runtime.Object) []controller.Key {
	role, ok := obj.(*rbac.ClusterRole)
	if !ok {
		return nil
	}
	cluster := logicalcluster.FromAnnotations(role.Annotations)
	switch {
	case cluster.Empty():
		return nil
	case role.AggregationRule != nil:
		r.aggregating.add(cluster)
	case r.aggregating.seen(cluster) == 0:
		return nil
	}
	return []controller.Key{{Cluster: cluster}}
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	seen := r.aggregating.seen(key.Cluster)
	roles, err := r.Policy.ClusterRoles(ctx, key.Cluster)
	if err != nil {
		return err
	}
	roles = slices.Clone(roles)
	slices.SortFunc(roles, func(a, b rbac.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })

	var failures []error
	aggregates := false
	for i := range roles {
		if roles[i].AggregationRule == nil {
			continue
		}
		aggregates = true
		if err := r.aggregate(ctx, key.Cluster, &roles[i], roles); err != nil {
			failures = append(failures, err)
		}
	}
	if !aggregates {
		r.aggregating.remove(key.Cluster, seen)
	}
	return errors.Join(failures...)
}

// aggregate writes what a role gathers, if that has changed.
func (r *reconciler) aggregate(ctx context.Context, cluster logicalcluster.Name, role *rbac.ClusterRole, roles []rbac.ClusterRole) error {
	rules, changed, err := Rules(role, roles)
	if err != nil {
		// Validation lets none through; trying again would not help.
		klog.FromContext(ctx).Error(err, "aggregating", "cluster", cluster, "role", role.Name)
		return nil
	}
	if !changed {
		return nil
	}
	wanted := role.DeepCopy()
	wanted.Rules = rules
	if wanted.ManagedFields, err = own(wanted.ManagedFields, metav1.NewTime(r.Clock.Now())); err != nil {
		return fmt.Errorf("owning the rules of role %s: %w", role.Name, err)
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.ClusterRoles, cluster, wanted)
	err = batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.ClusterRoles.GroupResource, role.Name, err)
	}
	return err
}

// aggregating are the clusters that have an aggregating role, each with a number of
// the last time one was heard of.
type aggregating struct {
	mu      sync.Mutex
	changes map[logicalcluster.Name]uint64
	next    uint64
}

func (a *aggregating) add(cluster logicalcluster.Name) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	a.changes[cluster] = a.next
}

// seen returns a number that is another one after each add; 0 for unknown clusters.
func (a *aggregating) seen(cluster logicalcluster.Name) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changes[cluster]
}

// remove forgets a cluster unless it was added again since seen.
func (a *aggregating) remove(cluster logicalcluster.Name, seen uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changes[cluster] == seen {
		delete(a.changes, cluster)
	}
}

// keys returns all clusters.
func (a *aggregating) keys() []controller.Key {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := make([]controller.Key, 0, len(a.changes))
	for cluster := range a.changes {
		keys = append(keys, controller.Key{Cluster: cluster})
	}
	return keys
}
