package storage

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// completions is how often a Complete is asked about a create whose transaction found
// something changed. After that the object is created as it is.
const completions = 3

// Complete is asked about every single create of a resource, past validation and admission,
// in the last moment before it is written. obj is not to be changed. It returns what is
// created instead of obj and what is written with it; nil if obj is created as it is. again
// says that what it returned before did not fit what is stored, so that memory may be behind.
type Complete func(ctx context.Context, cluster logicalcluster.Name, obj runtime.Object, again bool) *Completion

// Completion is how a create is completed.
type Completion struct {
	// Object is created: the one that was to be, and more.
	Object runtime.Object
	// With are writes and requirements that go into the transaction of the create. They
	// may not be too many for one.
	With *Batch
	// Done is called once when the transaction is over. Where written is false, it may
	// have happened all the same, if etcd did not answer.
	Done func(written bool)
}

// CompleteCreates has complete asked about the creates of a resource, whose store is open
// and stays open. Batches are not asked about: what they hold is complete.
func (l *Layer) CompleteCreates(resource Resource, complete Complete) error {
	s, ok := l.lookUp(resource)
	if !ok {
		return notOpen(resource)
	}
	s.complete.Store(&complete)
	return nil
}

// createCompleted creates obj as complete wants it. done is false if it does not want
// anything, or if something kept changing: then obj is created as it is.
func (s *store) createCompleted(ctx context.Context, complete Complete, cluster logicalcluster.Name, key string, obj, out runtime.Object, ttl uint64) (done bool, err error) {
	for attempt := range completions {
		completion := complete(ctx, cluster, obj, attempt > 0)
		if completion == nil {
			return false, nil
		}
		err := s.createOne(ctx, completion, cluster, key, out, ttl)
		if !errors.Is(err, ErrBatchConflict) {
			return true, err
		}
	}
	return false, nil
}

func (s *store) createOne(ctx context.Context, completion *Completion, cluster logicalcluster.Name, key string, out runtime.Object, ttl uint64) error {
	written := false
	defer func() { completion.Done(written) }()
	batch := completion.With
	if batch.err != nil {
		return batch.err
	}
	if err := setCluster(completion.Object, cluster); err != nil {
		return err
	}
	// Who reads that the rest is written, and lists what is created, is to find it.
	batch.places[place{s, cluster}] = struct{}{}
	defer batch.begin()()
	together := &together{key: s.layer.prefix + key, batch: batch}
	if err := s.Interface.Create(withTogether(ctx, together), key, completion.Object, out, ttl); err != nil {
		return err
	}
	written = true
	batch.written(ctx, together.response.Header.Revision, together.response.Responses[1:])
	return nil
}

// together is a create that is carried out with the writes of a batch: the way to them
// from above upstream's store to below it.
type together struct {
	// key is that of the object that is created.
	key   string
	batch *Batch
	// response is what etcd answered, to the create first.
	response *clientv3.TxnResponse
}

type togetherKey struct{}

func withTogether(ctx context.Context, t *together) context.Context {
	return context.WithValue(ctx, togetherKey{}, t)
}

// togetherFrom returns what is to be written with the create of key, nil for nothing.
func togetherFrom(ctx context.Context, key string) *together {
	t, _ := ctx.Value(togetherKey{}).(*together)
	if t == nil || t.key != key {
		return nil
	}
	return t
}
