package logicalcluster

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

const (
	// recordTries is how often a record is tried that others were faster than.
	recordTries = 3
	// recordTimeout bounds what whoever has written waits for his record.
	recordTimeout = 5 * time.Second
)

// Recorder remembers who last wrote to a logical cluster as one of its hooks. It keeps
// nothing in memory: what was recorded is in the LogicalCluster, and a write that comes
// less than a minute later costs a look at the watch cache.
type Recorder struct {
	Layer    *storage.Layer
	Clusters cached.LogicalClusterReader
	Clock    clock.PassiveClock
}

// Record remembers that user has written to the content of cluster as hook, in the
// LogicalCluster and its conditions. It does nothing if that was recorded less than a
// minute ago, or if the hook is not waited for. What it cannot write is lost, with a line
// in the log: the write itself has succeeded.
func (r *Recorder) Record(ctx context.Context, cluster logicalcluster.Name, hook tenancy.Hook, user string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := r.record(ctx, cluster, hook, user); err != nil {
		klog.FromContext(ctx).V(2).Info("recording the write of a hook", "cluster", cluster, "hook", hook.ID, "err", err)
	}
}

func (r *Recorder) record(ctx context.Context, cluster logicalcluster.Name, hook tenancy.Hook, user string) error {
	lc, err := r.Clusters.Get(ctx, cluster)
	for range recordTries {
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		if err = r.write(ctx, cluster, lc, hook, user); !errors.Is(err, storage.ErrBatchConflict) {
			return err
		}
		// Somebody else may have recorded the same, or the watch cache lags behind.
		lc, err = r.Clusters.GetCurrent(ctx, cluster)
	}
	return err
}

func (r *Recorder) write(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster, hook tenancy.Hook, user string) error {
	now := metav1.NewTime(r.Clock.Now())
	recorded, changed := phase.RecordWrite(lc, hook, user, now)
	if !changed {
		return nil
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.LogicalClusters, cluster, phase.LogicalCluster(phase.LogicalClusterInput{Observed: recorded, Now: now}))
	return batch.Commit(ctx)
}
