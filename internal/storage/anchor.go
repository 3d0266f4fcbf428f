package storage

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Anchor names the object that each cluster but those of the system stands and falls
// with: without it nothing can be created in a cluster. A request that was let in just
// before a cluster went would leave something behind otherwise, for ever.
//
// Batches are not held to it: they bring it along, or require it.
type Anchor struct {
	// Resource is that of the object, which has no namespace.
	Resource Resource
	// Name is the one it has in every cluster.
	Name string
}

// errNoAnchor says that nothing can be created in a cluster any more.
var errNoAnchor = errors.New("the workspace does not exist any more")

// creates is an etcd that creates keys of a cluster only where its anchor is, and with what
// is to be written together with them. It is a little more in the transaction that there is
// anyway.
type creates struct {
	kubernetes.Interface
	kv     clientv3.KV
	prefix string
	// anchor may be nil.
	anchor *Anchor
}

// OptimisticPut implements kubernetes.Interface.
func (c creates) OptimisticPut(ctx context.Context, key string, value []byte, revision int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	anchor, with := c.anchorOf(ctx, key), togetherFrom(ctx, key)
	// What is there already is gone with its cluster, and so are its changes.
	if revision != 0 || anchor == "" && with == nil {
		return c.Interface.OptimisticPut(ctx, key, value, revision, opts)
	}
	compares := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(key), "=", 0)}
	writes := []clientv3.Op{clientv3.OpPut(key, string(value), clientv3.WithLease(opts.LeaseID))}
	otherwise := []clientv3.Op{clientv3.OpGet(key)}
	if anchor != "" {
		compares = append(compares, clientv3.Compare(clientv3.CreateRevision(anchor), ">", 0))
		otherwise = append(otherwise, clientv3.OpGet(anchor, clientv3.WithKeysOnly()))
	}
	if with != nil {
		compares, writes = append(compares, with.batch.compares...), append(writes, with.batch.writes...)
	}
	txn, err := c.kv.Txn(ctx).If(compares...).Then(writes...).Else(otherwise...).Commit()
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	if with != nil {
		with.response = txn
	}
	response := kubernetes.PutResponse{Succeeded: txn.Succeeded, Revision: txn.Header.Revision}
	if txn.Succeeded {
		return response, nil
	}
	found := txn.Responses[0].GetResponseRange().Kvs
	switch {
	case len(found) > 0 && opts.GetOnFailure:
		response.KV = found[0]
	case len(found) > 0:
	case anchor != "" && txn.Responses[1].GetResponseRange().Count == 0:
		return kubernetes.PutResponse{}, errNoAnchor
	default:
		return kubernetes.PutResponse{}, ErrBatchConflict
	}
	return response, nil
}

// anchorOf returns what has to be there for key to be created, empty for nothing.
func (c creates) anchorOf(ctx context.Context, key string) string {
	cluster, ok := logicalcluster.FromContext(ctx)
	if c.anchor == nil || !ok || cluster.IsSystem() {
		return ""
	}
	anchor := c.prefix + clusterKey(c.anchor.Resource.Prefix(), cluster) + "/" + c.anchor.Name
	if key == anchor {
		return ""
	}
	return anchor
}
