package informers

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/apis/core"
	convert "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Namespaces reads namespaces of a cluster. One that is not there is a NotFound Status.
type Namespaces interface {
	// Get answers from memory and may lag behind.
	Get(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error)
	// GetCurrent answers from storage.
	GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error)
}

// namespaces is an informer that has a lister and can be asked whether it has synced.
type namespaces struct{ place place }

// Informer returns what has always synced: the watch cache is full before the Index is.
func (n namespaces) Informer() cache.SharedIndexInformer { return unwatched{place: n.place} }

// Lister reads from the watch cache.
func (n namespaces) Lister() corelisters.NamespaceLister { return namespaceLister{place: n.place} }

// unwatched is an informer that tells of no changes.
type unwatched struct {
	cache.SharedIndexInformer
	place place
}

// HasSynced says whether namespaces can be read.
func (u unwatched) HasSynced() bool {
	return checker{synced: u.place.sources.Index.Synced()}.HasSynced()
}

// AddEventHandler returns an error.
func (u unwatched) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, errors.New("admission is not told of changes in namespaces")
}

type namespaceLister struct {
	corelisters.NamespaceListerExpansion
	place place
}

// Get returns a namespace, or a NotFound Status error.
func (l namespaceLister) Get(name string) (*corev1.Namespace, error) {
	// Whoever still uses the informer when it is needed no more gets an answer.
	return namespaceOf(l.place.sources.Namespaces.Get(context.WithoutCancel(l.place.ctx), l.place.namespaces(), name))
}

// List returns an error.
func (l namespaceLister) List(labels.Selector) ([]*corev1.Namespace, error) {
	return nil, errors.New("admission does not list namespaces")
}

func namespaceOf(stored *core.Namespace, err error) (*corev1.Namespace, error) {
	if err != nil {
		return nil, err
	}
	out := &corev1.Namespace{}
	return out, convert.Convert_core_Namespace_To_v1_Namespace(stored, out, nil)
}

// client reads namespaces, and refuses everything else.
type client struct {
	kubernetes.Interface
	namespaces Namespaces
	where      Where
}

// CoreV1 returns what reads namespaces.
func (c *client) CoreV1() typedcorev1.CoreV1Interface {
	return coreClient{c.Interface.CoreV1(), c}
}

type coreClient struct {
	typedcorev1.CoreV1Interface
	client *client
}

// Namespaces returns what reads namespaces.
func (c coreClient) Namespaces() typedcorev1.NamespaceInterface {
	return namespaceClient{c.CoreV1Interface.Namespaces(), c.client}
}

type namespaceClient struct {
	typedcorev1.NamespaceInterface
	client *client
}

// Get returns a namespace as it is in storage, or a NotFound Status error.
func (c namespaceClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return namespaceOf(c.client.namespaces.GetCurrent(ctx, c.client.where(), name))
}
