package storage

import (
	"context"
	"errors"
	"path"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	resource, _, ok := locate(c.counter.prefix, key)
	cluster, inCluster := logicalcluster.FromContext(ctx)
	if revision != 0 || !ok || !inCluster || !counts(resource) {
		return c.Interface.OptimisticPut(ctx, key, value, revision, opts)
	}
	reserved, err := c.reserve(ctx, cluster, resource, path.Base(key))
	if err != nil {
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
	}
	return response, err
}

// reserve takes a slot for an object that is to be created, if its cluster is limited.
func (c counted) reserve(ctx context.Context, cluster logicalcluster.Name, resource schema.GroupResource, name string) (bool, error) {
	if c.counter.limit == nil || !c.counter.active.Load() {
		return false, nil
	}
	limit, limited, err := c.counter.limit(ctx, cluster, resource, name)
	if err != nil || !limited {
		return false, err
	}
	err = c.counter.reserve(ctx, cluster, limit)
	if full := (LimitReached{}); errors.As(err, &full) {
		full.resource, full.name = resource, name
		err = full
	}
	return err == nil, err
}

// OptimisticDelete implements kubernetes.Interface.
func (c counted) OptimisticDelete(ctx context.Context, key string, revision int64, opts kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	response, err := c.Interface.OptimisticDelete(ctx, key, revision, opts)
	resource, _, ok := locate(c.counter.prefix, key)
	if cluster, inCluster := logicalcluster.FromContext(ctx); ok && inCluster && counts(resource) {
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
	if err == nil || errors.Is(err, errNoAnchor) {
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
