package storage

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// counted is an etcd that counts the objects of each cluster, and creates no more than
// there may be. All single writes of upstream's stores come by here, whatever makes them:
// an update that creates is a create.
type counted struct {
	kubernetes.Interface
	counter *counter
}

// OptimisticPut implements kubernetes.Interface.
func (c counted) OptimisticPut(ctx context.Context, key string, value []byte, revision int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	at, ok := locate(c.counter.prefix, key)
	cluster, inCluster := logicalcluster.FromContext(ctx)
	if revision != 0 || !ok || !inCluster || !counts(at.resource.GroupResource) {
		return c.Interface.OptimisticPut(ctx, key, value, revision, opts)
	}
	reserved, err := c.reserve(ctx, cluster, at)
	if err != nil {
		c.tell(cluster, at, 0)
		return kubernetes.PutResponse{}, err
	}
	response, err := c.Interface.OptimisticPut(ctx, key, value, revision, opts)
	created := int64(0)
	if err == nil && response.Succeeded {
		created = response.Revision
	}
	switch {
	case reserved:
		c.counter.settle(cluster, created)
	case created > 0:
		c.counter.wrote(cluster, 1, created)
	}
	if unknownOutcome(err) {
		c.counter.doubt()
	} else {
		c.tell(cluster, at, created)
	}
	return response, err
}

// tell tells the observer what became of a create.
func (c counted) tell(cluster logicalcluster.Name, at location, revision int64) {
	if c.counter.observe != nil {
		c.counter.observe(cluster, at.resource.GroupResource, at.object, revision)
	}
}

// reserve takes a slot for an object that is to be created, if its cluster is limited.
func (c counted) reserve(ctx context.Context, cluster logicalcluster.Name, at location) (bool, error) {
	if c.counter.limit == nil || !c.counter.active.Load() {
		return false, nil
	}
	limit, limited, err := c.counter.limit(ctx, cluster, at.resource.GroupResource, at.object.Name)
	if err != nil || !limited {
		return false, err
	}
	err = c.counter.reserve(ctx, cluster, limit)
	if full := (LimitReached{}); errors.As(err, &full) {
		full.resource, full.name = at.resource.GroupResource, at.object.Name
		err = full
	}
	return err == nil, err
}

// OptimisticDelete implements kubernetes.Interface.
func (c counted) OptimisticDelete(ctx context.Context, key string, revision int64, opts kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	response, err := c.Interface.OptimisticDelete(ctx, key, revision, opts)
	at, ok := locate(c.counter.prefix, key)
	if cluster, inCluster := logicalcluster.FromContext(ctx); ok && inCluster && counts(at.resource.GroupResource) {
		if err == nil && response.Succeeded {
			c.counter.wrote(cluster, -1, response.Revision)
		}
		if unknownOutcome(err) {
			c.counter.doubt()
		}
	}
	return response, err
}

// unknownOutcome says whether a write that ended with err may have happened all the same,
// or may yet happen.
func unknownOutcome(err error) bool {
	if err == nil || errors.Is(err, errNoAnchor) || errors.Is(err, ErrBatchConflict) {
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	code := status.Code(err)
	if etcdError := (rpctypes.EtcdError{}); errors.As(err, &etcdError) {
		code = etcdError.Code()
	}
	switch code {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Unknown, codes.Internal, codes.Aborted:
		return true
	default:
		return false
	}
}
