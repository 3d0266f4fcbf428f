package informers

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	registrationv1 "k8s.io/client-go/informers/admissionregistration/v1"

	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/admissionregistration/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Sources are what informers of all clusters read from.
type Sources struct {
	Index      *configurations.Index
	Namespaces Namespaces
}

// Where says in which cluster namespaces are looked for. It is asked each time.
type Where func() logicalcluster.Name

// at is always the same cluster.
func at(cluster logicalcluster.Name) Where { return func() logicalcluster.Name { return cluster } }

// Factory returns the informers of a cluster. What they have registered with the Index
// goes when ctx ends. There is nothing to be started.
func (s Sources) Factory(ctx context.Context, cluster logicalcluster.Name) clientinformers.SharedInformerFactory {
	return s.FactoryFor(ctx, cluster, at(cluster))
}

// FactoryFor is Factory with namespaces that are elsewhere: configurations may apply to
// the objects of other clusters.
func (s Sources) FactoryFor(ctx context.Context, cluster logicalcluster.Name, namespaces Where) clientinformers.SharedInformerFactory {
	return &factory{place: place{ctx: ctx, sources: s, cluster: cluster, namespaces: namespaces}}
}

// Client returns a client of a cluster that reads namespaces, as they are in storage.
func (s Sources) Client(cluster logicalcluster.Name) kubernetes.Interface {
	return s.ClientFor(at(cluster))
}

// ClientFor is Client for namespaces that are elsewhere.
func (s Sources) ClientFor(namespaces Where) kubernetes.Interface {
	return &client{Interface: refusing(), namespaces: s.Namespaces, where: namespaces}
}

// place is where informers are.
type place struct {
	ctx     context.Context
	sources Sources
	cluster logicalcluster.Name
	// namespaces says where namespaces are.
	namespaces Where
}

// factory has no informers but those below: the embedded interface is nil.
type factory struct {
	clientinformers.SharedInformerFactory
	place place
}

// Start has nothing to do.
func (f *factory) Start(<-chan struct{}) {}

// StartWithContext has nothing to do.
func (f *factory) StartWithContext(context.Context) {}

// Shutdown has nothing to wait for: what was registered goes with the context of the
// factory.
func (f *factory) Shutdown() {}

// WaitForCacheSync waits until all exists in the Index that is to be read from it.
func (f *factory) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	select {
	case <-stop:
	case <-f.place.sources.Index.Synced():
	}
	return nil
}

// WaitForCacheSyncWithContext is WaitForCacheSync until a context ends.
func (f *factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	f.WaitForCacheSync(ctx.Done())
	return cache.SyncResult{Err: context.Cause(ctx)}
}

// ForResource returns an error: objects of any kind are nothing that is known here.
func (f *factory) ForResource(resource schema.GroupVersionResource) (clientinformers.GenericInformer, error) {
	return nil, fmt.Errorf("admission has no informer for %s", resource)
}

// Admissionregistration returns the informers for configurations.
func (f *factory) Admissionregistration() admissionregistration.Interface {
	return registrationGroup{place: f.place}
}

// Core returns the informer for namespaces.
func (f *factory) Core() core.Interface { return coreGroup{place: f.place} }

type registrationGroup struct {
	admissionregistration.Interface
	place place
}

// V1 returns the informers for configurations.
func (g registrationGroup) V1() registrationv1.Interface { return registration{place: g.place} }

type coreGroup struct {
	core.Interface
	place place
}

// V1 returns the informer for namespaces.
func (g coreGroup) V1() corev1.Interface { return coreVersion{place: g.place} }

type coreVersion struct {
	corev1.Interface
	place place
}

// Namespaces returns the informer for namespaces.
func (v coreVersion) Namespaces() corev1.NamespaceInformer { return namespaces{v.place} }

type registration struct {
	registrationv1.Interface
	place place
}

// MutatingWebhookConfigurations returns the informer for them.
func (r registration) MutatingWebhookConfigurations() registrationv1.MutatingWebhookConfigurationInformer {
	return newInformer(r.place, mutatingWebhooks, listers.NewMutatingWebhookConfigurationLister)
}

// ValidatingWebhookConfigurations returns the informer for them.
func (r registration) ValidatingWebhookConfigurations() registrationv1.ValidatingWebhookConfigurationInformer {
	return newInformer(r.place, validatingWebhooks, listers.NewValidatingWebhookConfigurationLister)
}
