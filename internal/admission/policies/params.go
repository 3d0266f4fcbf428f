package policies

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// WithParams returns hooks, which it does not change, with what reads the parameters of
// those that have any: in cluster, for as long as its request lasts.
func WithParams[P, B runtime.Object, E generic.Evaluator](
	ctx context.Context, access *Access, cluster logicalcluster.Name, hooks []generic.PolicyHook[P, B, E], read func(P) generic.PolicyAccessor,
) []generic.PolicyHook[P, B, E] {
	var result []generic.PolicyHook[P, B, E]
	for i := range hooks {
		kind := read(hooks[i].Policy).GetParamKind()
		if kind == nil {
			continue
		}
		if result == nil {
			result = append(result, hooks...)
		}
		result[i].ParamInformer, result[i].ParamScope, result[i].ConfigurationError = access.params(ctx, cluster, kind)
	}
	if result == nil {
		return hooks
	}
	return result
}

// params returns what reads the objects of a kind. An error says that the policy is not
// configured properly.
func (a *Access) params(ctx context.Context, cluster logicalcluster.Name, kind *admissionregistrationv1.ParamKind) (informers.GenericInformer, meta.RESTScope, error) {
	groupVersion, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	gvk := groupVersion.WithKind(kind.Kind)
	resource, namespaced, ok := a.ParamKind(cluster, gvk)
	if !ok {
		return nil, nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
	}
	scope := meta.RESTScopeRoot
	if namespaced {
		scope = meta.RESTScopeNamespace
	}
	return paramReader{ctx: logicalcluster.NewContext(ctx, cluster), objects: a.Objects, resource: resource}, scope, nil
}

// paramReader reads parameters for one request. It is the part of an informer that
// upstream's dispatchers use.
type paramReader struct {
	// They are asked without a context; this is the request's.
	ctx       context.Context //nolint:containedctx // because upstream's listers take none
	objects   Objects
	resource  schema.GroupVersionResource
	namespace string
}

var (
	_ informers.GenericInformer    = paramReader{}
	_ cache.GenericLister          = paramReader{}
	_ cache.SharedIndexInformer    = alwaysSynced{}
	_ cache.GenericNamespaceLister = paramReader{}
)

// Informer implements informers.GenericInformer.
func (p paramReader) Informer() cache.SharedIndexInformer { return alwaysSynced{} }

// Lister implements informers.GenericInformer.
func (p paramReader) Lister() cache.GenericLister { return p }

// ByNamespace implements cache.GenericLister.
func (p paramReader) ByNamespace(namespace string) cache.GenericNamespaceLister {
	p.namespace = namespace
	return p
}

// Get implements cache.GenericLister.
func (p paramReader) Get(name string) (runtime.Object, error) {
	return p.objects.Get(p.ctx, p.resource, p.namespace, name)
}

// List implements cache.GenericLister.
func (p paramReader) List(selector labels.Selector) ([]runtime.Object, error) {
	return p.objects.List(p.ctx, p.resource, p.namespace, selector)
}

// alwaysSynced is an informer of which nothing is asked but whether it is synced. What
// it stands for reads from storage as long as there is nothing in memory.
type alwaysSynced struct{ cache.SharedIndexInformer }

// HasSynced implements cache.SharedIndexInformer.
func (alwaysSynced) HasSynced() bool { return true }
