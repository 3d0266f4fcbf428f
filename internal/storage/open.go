package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// eventsHistory is how long a watch cache remembers events; the cacher refuses less.
const eventsHistory = 75 * time.Second

// Kind says how the objects of a store look in memory.
type Kind struct {
	// New and NewList make empty objects and lists.
	New, NewList func() runtime.Object
	// Codec turns objects into what etcd holds and back.
	Codec runtime.Codec
	// Attrs returns the labels and fields of an object by which it can be selected;
	// nil stands for name, namespace and labels.
	Attrs storage.AttrFunc
	// Share calls share for strings of an object, beyond its metadata, that are often
	// equal to those of others, and puts what it returns in their place. Nil if there
	// are none.
	Share func(obj runtime.Object, share func(string) string)
}

// Open opens the store of a resource: the tenancy seam over a watch cache over
// etcd. A resource can be open once; CloseResource or Close ends it.
func (l *Layer) Open(resource Resource, kind Kind) (storage.Interface, error) {
	return l.open(resource, kind)
}

// CloseResource closes the store of a resource: running watches end, and the
// resource may be opened anew. It does nothing if the resource is not open.
func (l *Layer) CloseResource(resource Resource) {
	l.mu.Lock()
	o := l.stores[resource]
	delete(l.stores, resource)
	if o != nil {
		o.store.closed.Store(true)
		l.storesChanged()
	}
	l.mu.Unlock()
	if o != nil {
		o.stop()
		l.left.add(resource)
	}
}

func (l *Layer) open(resource Resource, kind Kind) (*store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("storage is closed")
	}
	if _, ok := l.stores[resource]; ok {
		return nil, fmt.Errorf("the store of %s is open already", resource.Prefix())
	}
	for other := range l.stores {
		if nested(resource.Prefix(), other.Prefix()) {
			return nil, fmt.Errorf("the store of %s would hold the objects of %s", resource.Prefix(), other.Prefix())
		}
	}
	o, err := l.build(resource, kind)
	if err != nil {
		return nil, fmt.Errorf("opening the store of %s: %w", resource.Prefix(), err)
	}
	l.stores[resource] = o
	l.storesChanged()
	return o.store, nil
}

// nested says whether one of two prefixes is below the other: a resource with an identity
// below one of the same name that has none. The watch cache of the upper one would hold
// the objects of both, and fail at the first that is not of its kind.
func nested(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

func (l *Layer) build(resource Resource, kind Kind) (*opened, error) {
	if kind.Attrs == nil {
		kind.Attrs = storage.DefaultNamespaceScopedAttr
	}
	feature.DefaultFeatureSupportChecker.CheckClient(l.client.Ctx(), progressSupport{l.client.Client}, storage.RequestWatchProgress)

	kind.Codec = l.sharing.codec(kind.Codec, kind.Share)
	prefix, versioner := resource.Prefix(), storage.APIObjectVersioner{}
	// Without encryption, what was encrypted is an error and not taken for an object.
	transformer := identity.NewEncryptCheckTransformer()
	if l.encryption != nil {
		transformer = l.encryption.TransformerForResource(resource.GroupResource)
	}
	raw, err := etcd3.New(l.client, l.compactor, kind.Codec, kind.New, kind.NewList, l.prefix, prefix, resource.GroupResource,
		transformer, l.leases, etcd3.NewDefaultDecoder(kind.Codec, versioner), versioner)
	if err != nil {
		return nil, err
	}
	below := &backing{Interface: raw, feeds: map[*feed]struct{}{}}
	cached, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             below,
		Versioner:           versioner,
		GroupResource:       resource.GroupResource,
		EventsHistoryWindow: eventsHistory,
		ResourcePrefix:      prefix,
		KeyFunc:             func(obj runtime.Object) (string, error) { return objectKey(prefix, obj) },
		NewFunc:             kind.New,
		NewListFunc:         kind.NewList,
		GetAttrsFunc:        l.sharing.attrs(kind.Attrs),
		// Without this index each event goes to the watchers of all clusters.
		IndexerFuncs: storage.IndexerFuncs{clusterField: clusterOf},
		Codec:        kind.Codec,
		Clock:        l.clock,
	})
	if err != nil {
		raw.Close()
		return nil, err
	}
	delegator := cacher.NewCacheDelegator(cached, raw)
	return &opened{
		store: &store{
			Interface:   delegator,
			direct:      raw,
			layer:       l,
			resource:    resource,
			prefix:      prefix,
			codec:       kind.Codec,
			transformer: transformer,
			newObject:   kind.New,
			newList:     kind.NewList,
		},
		stop: func() {
			delegator.Stop()
			below.end()
			cached.Stop()
			raw.Close()
		},
	}, nil
}

// objectKey returns the key of an object that has been stored.
func objectKey(prefix string, obj runtime.Object) (string, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return "", err
	}
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	if cluster.Empty() {
		return "", fmt.Errorf("object %s/%s names no cluster", accessor.GetNamespace(), accessor.GetName())
	}
	key := clusterKey(prefix, cluster)
	if namespace := accessor.GetNamespace(); namespace != "" {
		key += "/" + namespace
	}
	return key + "/" + accessor.GetName(), nil
}

// clusterOf returns the value of the index clusterField for an object.
func clusterOf(obj runtime.Object) string {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return accessor.GetAnnotations()[logicalcluster.AnnotationKey]
}

// progressSupport answers upstream's question for the version of etcd for clients
// that have no endpoints, as that of the embedded etcd.
type progressSupport struct{ client *clientv3.Client }

// Endpoints returns the endpoints of the client, or a name for the embedded etcd.
func (p progressSupport) Endpoints() []string {
	if endpoints := p.client.Endpoints(); len(endpoints) > 0 {
		return endpoints
	}
	return []string{"embedded"}
}

// Status returns what etcd says of itself.
func (p progressSupport) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	return p.client.Status(ctx, endpoint)
}
