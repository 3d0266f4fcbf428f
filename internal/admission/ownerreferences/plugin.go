package ownerreferences

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/admission/gc"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = gc.PluginName

// Mapper returns what the kinds of a cluster are called as resources.
type Mapper func(logicalcluster.Name) meta.RESTMapper

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	upstream   *admission.Plugins
	authorizer authorizer.Authorizer
	mapper     Mapper
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(mapper Mapper, authorizer authorizer.Authorizer) *Plugin {
	upstream := admission.NewPlugins()
	gc.Register(upstream)
	return &Plugin{
		Handler:    admission.NewHandler(admission.Create, admission.Update),
		upstream:   upstream,
		authorizer: authorizer,
		mapper:     mapper,
	}
}

// Validate asks upstream's plugin, made for the cluster, about objects that have owners
// or had some.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	if !owned(a.GetObject()) && !owned(a.GetOldObject()) {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	plugin, err := p.upstream.InitPlugin(Name, nil, initializer{plugin: p, cluster: cluster})
	if err != nil {
		return request.Failed(a, err)
	}
	if validation, ok := plugin.(admission.ValidationInterface); ok {
		return validation.Validate(ctx, a, objects)
	}
	return nil
}

func owned(obj runtime.Object) bool {
	if obj == nil {
		return false
	}
	accessor, err := meta.Accessor(obj)
	return err == nil && len(accessor.GetOwnerReferences()) > 0
}

// initializer gives upstream's plugin what it needs in a cluster.
type initializer struct {
	plugin  *Plugin
	cluster logicalcluster.Name
}

// Initialize implements admission.PluginInitializer.
func (i initializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(interface {
		SetAuthorizer(authorizer.Authorizer)
		SetRESTMapper(meta.RESTMapper)
	}); ok {
		wants.SetAuthorizer(i.plugin.authorizer)
		wants.SetRESTMapper(lazily{make: i.plugin.mapper, cluster: i.cluster})
	}
}

// lazily is a RESTMapper that is made when it is asked: most who may refer to an owner
// may set finalizers of anything, and then it is not. Upstream's plugin asks one question.
type lazily struct {
	meta.RESTMapper
	make    Mapper
	cluster logicalcluster.Name
}

// RESTMappings implements meta.RESTMapper.
func (l lazily) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return l.make(l.cluster).RESTMappings(kind, versions...)
}
