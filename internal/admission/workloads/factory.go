package workloads

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/informers/networking"
	networkingv1 "k8s.io/client-go/informers/networking/v1"
	"k8s.io/client-go/informers/node"
	nodev1 "k8s.io/client-go/informers/node/v1"
	"k8s.io/client-go/informers/scheduling"
	schedulingv1 "k8s.io/client-go/informers/scheduling/v1"
	"k8s.io/client-go/informers/storage"
	storagev1 "k8s.io/client-go/informers/storage/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	nodelisters "k8s.io/client-go/listers/node/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

// factory has the informers that the plugins ask for, and no others: the embedded
// interfaces are nil.
type factory struct {
	informers.SharedInformerFactory
	sources
}

// Core returns the informers for limit ranges, namespaces and pods.
func (f factory) Core() core.Interface { return coreGroup{sources: f.sources} }

// Scheduling returns the informer for priority classes.
func (f factory) Scheduling() scheduling.Interface { return schedulingGroup{sources: f.sources} }

// Node returns the informer for runtime classes.
func (f factory) Node() node.Interface { return nodeGroup{sources: f.sources} }

// Storage returns the informer for storage classes.
func (f factory) Storage() storage.Interface { return storageGroup{sources: f.sources} }

// Networking returns the informer for ingress classes.
func (f factory) Networking() networking.Interface { return networkingGroup{sources: f.sources} }

type (
	coreGroup struct {
		core.Interface
		sources
	}
	coreVersion struct {
		corev1.Interface
		sources
	}
	schedulingGroup struct {
		scheduling.Interface
		sources
	}
	schedulingVersion struct {
		schedulingv1.Interface
		sources
	}
	nodeGroup struct {
		node.Interface
		sources
	}
	nodeVersion struct {
		nodev1.Interface
		sources
	}
	storageGroup struct {
		storage.Interface
		sources
	}
	storageVersion struct {
		storagev1.Interface
		sources
	}
	networkingGroup struct {
		networking.Interface
		sources
	}
	networkingVersion struct {
		networkingv1.Interface
		sources
	}
)

func (g coreGroup) V1() corev1.Interface             { return coreVersion{sources: g.sources} }
func (g schedulingGroup) V1() schedulingv1.Interface { return schedulingVersion{sources: g.sources} }
func (g nodeGroup) V1() nodev1.Interface             { return nodeVersion{sources: g.sources} }
func (g storageGroup) V1() storagev1.Interface       { return storageVersion{sources: g.sources} }
func (g networkingGroup) V1() networkingv1.Interface { return networkingVersion{sources: g.sources} }

func (v coreVersion) LimitRanges() corev1.LimitRangeInformer {
	return informer[corelisters.LimitRangeLister]{v.sources, limitRanges, corelisters.NewLimitRangeLister}
}

func (v coreVersion) Namespaces() corev1.NamespaceInformer {
	return informer[corelisters.NamespaceLister]{v.sources, namespaces, corelisters.NewNamespaceLister}
}

func (v coreVersion) Pods() corev1.PodInformer {
	return informer[corelisters.PodLister]{v.sources, allPods, corelisters.NewPodLister}
}

func (v schedulingVersion) PriorityClasses() schedulingv1.PriorityClassInformer {
	return informer[schedulinglisters.PriorityClassLister]{v.sources, priorityClasses, schedulinglisters.NewPriorityClassLister}
}

func (v nodeVersion) RuntimeClasses() nodev1.RuntimeClassInformer {
	return informer[nodelisters.RuntimeClassLister]{v.sources, runtimeClasses, nodelisters.NewRuntimeClassLister}
}

func (v storageVersion) StorageClasses() storagev1.StorageClassInformer {
	return informer[storagelisters.StorageClassLister]{v.sources, storageClasses, storagelisters.NewStorageClassLister}
}

func (v networkingVersion) IngressClasses() networkingv1.IngressClassInformer {
	return informer[networkinglisters.IngressClassLister]{v.sources, ingressClasses, networkinglisters.NewIngressClassLister}
}

// informer reads the objects of a resource.
type informer[L any] struct {
	sources
	resource  schema.GroupVersionResource
	newLister func(cache.Indexer) L
}

// Informer returns one that has nothing to wait for.
func (i informer[L]) Informer() cache.SharedIndexInformer { return synced{} }

// Lister returns what reads the objects.
func (i informer[L]) Lister() L {
	return i.newLister(indexer{sources: i.sources, resource: i.resource})
}
