package defaults

import (
	"context"
	"errors"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// batchBytes is how much of certificates one transaction carries at most: etcd refuses
	// requests of 1.5 MB.
	batchBytes = 512 << 10
	// batchObjects is how many objects one transaction changes at most. Others that want
	// to write wait for it.
	batchObjects = 64
)

// catchUp does what was put off.
func (r *reconciler) catchUp(ctx context.Context) error {
	wrong, everything := r.heard.take()
	if everything {
		namespaces, err := r.Namespaces.List(ctx, logicalcluster.Wildcard)
		if err != nil {
			r.heard.giveBack(wrong, true)
			return err
		}
		for i := range namespaces {
			r.heard.enqueue(controller.Key{Cluster: logicalcluster.FromAnnotations(namespaces[i].Annotations), Name: namespaces[i].Name})
		}
	}
	size := min(batchObjects, batchBytes/(len(r.RootCA)+1)+1)
	for len(wrong) > 0 {
		part := wrong[:min(size, len(wrong))]
		if err := r.correctAll(ctx, part); err != nil {
			r.heard.giveBack(wrong, false)
			return err
		}
		wrong = wrong[len(part):]
	}
	return nil
}

// correctAll brings ConfigMaps up to date in one transaction. If one of them changes at
// the same time, each is looked at by itself.
func (r *reconciler) correctAll(ctx context.Context, keys []controller.Key) error {
	batch := r.Layer.NewBatch()
	for _, key := range keys {
		if err := r.addCorrection(ctx, batch, key); err != nil {
			return err
		}
	}
	err := batch.Commit(ctx)
	if !errors.Is(err, storage.ErrBatchConflict) {
		return err
	}
	for _, key := range keys {
		r.heard.enqueue(key)
	}
	return nil
}
