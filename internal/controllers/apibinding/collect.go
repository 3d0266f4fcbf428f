package apibinding

import (
	"context"
	"errors"
	"time"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// unusedFor is how old a definition has to be that is removed because nothing refers to it.
const unusedFor = 30 * time.Minute

// unused has a look taken at definitions that no binding refers to any more.
func (r *reconciler) unused(uids []string) {
	for _, uid := range uids {
		r.enqueue(controller.Key{Cluster: logicalcluster.BoundCRDs, Name: uid})
	}
}

// collect removes a bound definition that nothing refers to. A binding that refers to it in
// the same moment finds it missing, and stores it again: its schema is there.
func (r *reconciler) collect(ctx context.Context, key controller.Key) error {
	crd, err := r.Definitions.Get(ctx, key.Cluster, key.Name)
	if err != nil {
		for _, user := range r.index.using(key.Name) {
			r.enqueue(user)
		}
		return ignoreNotFound(err)
	}
	if r.index.used(key.Name) {
		return nil
	}
	select {
	case <-r.synced:
	default:
		// Not all bindings are known yet.
		return controller.After(unusedFor)
	}
	if age := r.Clock.Since(crd.CreationTimestamp.Time); age < unusedFor {
		return controller.After(unusedFor - age)
	}
	err = r.Definitions.Delete(ctx, key.Cluster, crd)
	if errors.Is(err, storage.ErrBatchConflict) {
		return nil
	}
	return err
}
