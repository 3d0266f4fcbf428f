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

// anchored is an etcd that creates keys of a cluster only where its anchor is. It is one
// more comparison in the transaction that there is anyway.
type anchored struct {
	kubernetes.Interface
	kv     clientv3.KV
	prefix string
	anchor Anchor
}

// OptimisticPut implements kubernetes.Interface.
func (a anchored) OptimisticPut(ctx context.Context, key string, value []byte, revision int64, opts kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	cluster, ok := logicalcluster.FromContext(ctx)
	anchor := a.prefix + clusterKey(a.anchor.Resource.Prefix(), cluster) + "/" + a.anchor.Name
	// What is there already is gone with its cluster, and so are its changes.
	if revision != 0 || !ok || cluster.IsSystem() || key == anchor {
		return a.Interface.OptimisticPut(ctx, key, value, revision, opts)
	}
	txn, err := a.kv.Txn(ctx).If(
		clientv3.Compare(clientv3.ModRevision(key), "=", 0),
		clientv3.Compare(clientv3.CreateRevision(anchor), ">", 0),
	).Then(
		clientv3.OpPut(key, string(value), clientv3.WithLease(opts.LeaseID)),
	).Else(
		clientv3.OpGet(key),
	).Commit()
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	response := kubernetes.PutResponse{Succeeded: txn.Succeeded, Revision: txn.Header.Revision}
	if txn.Succeeded {
		return response, nil
	}
	found := txn.Responses[0].GetResponseRange().Kvs
	if len(found) == 0 {
		return kubernetes.PutResponse{}, errNoAnchor
	}
	if opts.GetOnFailure {
		response.KV = found[0]
	}
	return response, nil
}
