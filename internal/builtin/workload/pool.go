package workload

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pool lends pieces of upstream's that are given no context where they need the cluster.
// Each serves one request at a time, and is told of it beforehand. They are made when all
// are lent, and forgotten when they have not been used for a while.
type pool[T any] struct{ lent sync.Pool }

func newPool[T any](build func() (T, error)) *pool[T] {
	return &pool[T]{lent: sync.Pool{New: func() any {
		piece, err := build()
		if err != nil {
			// The same was built when the server started.
			panic(fmt.Sprintf("building what was built before: %v", err))
		}
		return piece
	}}}
}

func (p *pool[T]) take() T { return p.lent.Get().(T) }

func (p *pool[T]) giveBack(piece T) { p.lent.Put(piece) }

// inCluster returns a context for work in the cluster of ctx that goes on by itself: it
// neither ends with ctx nor carries who asks.
func inCluster(ctx context.Context) (context.Context, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	return logicalcluster.NewContext(context.Background(), cluster), nil
}

// over are options for a registry over a storage that is open already.
type over struct {
	generic.RESTOptionsGetter
	storage storage.Interface
}

// GetRESTOptions returns the options of one resource.
func (o over) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := o.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	options.Decorator = func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
		func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return o.storage, func() {}, nil
	}
	return options, nil
}
