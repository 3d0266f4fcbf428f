package workloads

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	nodeclient "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/client-go/tools/cache"
)

// Objects reads objects of the cluster of a context from the watch cache.
type Objects interface {
	Get(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (runtime.Object, error)
	List(ctx context.Context, resource schema.GroupVersionResource, namespace string, selector labels.Selector) ([]runtime.Object, error)
}

// The resources that plugins read.
var (
	allPods         = corev1.SchemeGroupVersion.WithResource("pods")
	namespaces      = corev1.SchemeGroupVersion.WithResource("namespaces")
	limitRanges     = corev1.SchemeGroupVersion.WithResource("limitranges")
	priorityClasses = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")
	runtimeClasses  = nodev1.SchemeGroupVersion.WithResource("runtimeclasses")
	storageClasses  = storagev1.SchemeGroupVersion.WithResource("storageclasses")
	ingressClasses  = networkingv1.SchemeGroupVersion.WithResource("ingressclasses")
)

// sources gives an instance what it reads from, for one request.
type sources struct {
	ctx     context.Context
	objects Objects
}

// Initialize implements admission.PluginInitializer.
func (s sources) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(initializer.WantsFeatures); ok {
		wants.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
	if wants, ok := plugin.(initializer.WantsEffectiveVersion); ok {
		wants.InspectEffectiveVersion(compatibility.DefaultBuildEffectiveVersion())
	}
	if wants, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		wants.SetExternalKubeClientSet(client{sources: s})
	}
	if wants, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		wants.SetExternalKubeInformerFactory(factory{sources: s})
	}
}

// indexer reads the objects of a resource. It can be read only: the embedded interface is
// nil.
type indexer struct {
	cache.Indexer
	sources
	resource schema.GroupVersionResource
}

// List returns all objects.
func (i indexer) List() []any { return i.in("") }

// Index returns the objects of the namespace of obj: there is no other index.
func (i indexer) Index(_ string, obj any) ([]any, error) {
	return i.in(obj.(metav1.Object).GetNamespace()), nil
}

func (i indexer) in(namespace string) []any {
	found, err := i.objects.List(i.ctx, i.resource, namespace, labels.Everything())
	if err != nil {
		// Listers have no errors.
		utilruntime.HandleErrorWithContext(i.ctx, err, "Listing for admission", "resource", i.resource)
		return nil
	}
	all := make([]any, len(found))
	for n, obj := range found {
		all[n] = obj
	}
	return all
}

// GetByKey returns an object by its namespace and name.
func (i indexer) GetByKey(key string) (any, bool, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil, false, err
	}
	found, err := i.objects.Get(i.ctx, i.resource, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	return found, err == nil, err
}

// synced is an informer that has nothing to wait for.
type synced struct{ cache.SharedIndexInformer }

// HasSynced returns true.
func (synced) HasSynced() bool { return true }

// client is a client for what upstream asks for when an informer may be behind. There is
// none here, so nothing is found that has not been found before.
type client struct {
	kubernetes.Interface
	sources
}

// CoreV1 returns the client for limit ranges and namespaces.
func (c client) CoreV1() coreclient.CoreV1Interface { return noCore{} }

// NodeV1 returns the client for runtime classes.
func (c client) NodeV1() nodeclient.NodeV1Interface { return noNode{} }

type noCore struct{ coreclient.CoreV1Interface }

// LimitRanges returns a client that finds none.
func (noCore) LimitRanges(string) coreclient.LimitRangeInterface { return noLimitRanges{} }

type noLimitRanges struct{ coreclient.LimitRangeInterface }

// List returns nothing.
func (noLimitRanges) List(context.Context, metav1.ListOptions) (*corev1.LimitRangeList, error) {
	return &corev1.LimitRangeList{}, nil
}

// Namespaces returns a client that finds none.
func (noCore) Namespaces() coreclient.NamespaceInterface { return noNamespaces{} }

type noNamespaces struct{ coreclient.NamespaceInterface }

// Get finds nothing.
func (noNamespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return nil, apierrors.NewNotFound(namespaces.GroupResource(), name)
}

type noNode struct{ nodeclient.NodeV1Interface }

// RuntimeClasses returns a client that finds none.
func (noNode) RuntimeClasses() nodeclient.RuntimeClassInterface { return noRuntimeClasses{} }

type noRuntimeClasses struct {
	nodeclient.RuntimeClassInterface
}

// Get finds nothing.
func (noRuntimeClasses) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(runtimeClasses.GroupResource(), name)
}

var _ informers.SharedInformerFactory = factory{}
