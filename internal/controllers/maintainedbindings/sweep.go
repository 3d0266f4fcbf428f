package maintainedbindings

import (
	"context"
	"fmt"
	"time"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// sweepEvery is the least time between two looks through all LogicalClusters: anybody may
// change a type of his as often as he likes.
const sweepEvery = time.Second

// sweep finds the workspaces that changes concern, and has the next portion of those that
// were found looked at. As long as there are more it comes back, behind them.
func (r *reconciler) sweep(ctx context.Context) error {
	pause := sweepEvery - r.Clock.Since(r.swept)
	if pause <= 0 {
		if err := r.find(ctx); err != nil {
			return err
		}
		pause = 0
	}
	for _, cluster := range r.backlog.next() {
		r.enqueue(clusterKey(cluster))
	}
	switch {
	case !r.backlog.empty():
		r.enqueue(sweepKey)
		return nil
	case pause > 0:
		return controller.After(pause)
	default:
		return nil
	}
}

// find puts the workspaces that changes concern into the backlog.
func (r *reconciler) find(ctx context.Context) error {
	changed := r.index.take()
	if changed.none() {
		return nil
	}
	r.swept = r.Clock.Now()
	all, err := r.Clusters.List(ctx)
	if err != nil {
		r.index.giveBack(changed)
		return err
	}
	concerns := map[string]concern{}
	for i := range all {
		lc := &all[i]
		cluster, typeName := logicalcluster.FromAnnotations(lc.Annotations), lc.Annotations[tenancyv1alpha1.TypeAnnotationKey]
		if cluster.Empty() || !lives(cluster, lc) {
			continue
		}
		c, known := concerns[typeName]
		if !known {
			if c, err = r.concern(ctx, changed, cluster, lc); err != nil {
				r.index.giveBack(changed)
				return fmt.Errorf("resolving type %s: %w", typeName, err)
			}
			concerns[typeName] = c
		}
		if c == concerned || c == concernedIfMaintained && conditions.Has(lc, corev1alpha1.APIBindingsReconciled) {
			r.backlog.add(typeName, cluster)
		}
	}
	return nil
}

// concern is what changes mean for the workspaces of a type.
type concern int

const (
	// unconcerned: nothing.
	unconcerned concern = iota
	// concerned: they have to be looked at.
	concerned
	// concernedIfMaintained: so do those that say that their bindings are maintained, since
	// that is not so any more, or cannot be known.
	concernedIfMaintained
)

// concern says what changes mean for the workspaces of the type that lc, in cluster, has.
func (r *reconciler) concern(ctx context.Context, changed changes, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (concern, error) {
	set, err := r.Types.ResolveCluster(ctx, cluster, lc)
	if tenancy.IsUnresolved(err) {
		return concernedIfMaintained, nil
	}
	if err != nil {
		return unconcerned, err
	}
	wanted := defaultbindings.MaintainedOf(set, cluster)
	if changed.touch(set) {
		if len(wanted) == 0 {
			return concernedIfMaintained, nil
		}
		return concerned, nil
	}
	for _, w := range wanted {
		where, err := r.Planner.References.Cluster(ctx, cluster, w.Path)
		if exportref.IsNotFound(err) {
			continue
		}
		if err != nil {
			return unconcerned, err
		}
		if _, ok := changed.exports[object{where, w.Export}]; ok {
			return concerned, nil
		}
	}
	return unconcerned, nil
}

// touch says whether one of the aliases of a type has changed, or was another one before.
func (c changes) touch(set *tenancy.Set) bool {
	if c.gone {
		return true
	}
	for _, alias := range set.Aliases {
		if _, ok := c.types[object{alias.Cluster, alias.Object.Name}]; ok {
			return true
		}
	}
	return false
}
