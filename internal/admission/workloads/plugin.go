package workloads

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"
)

// kind is one of the plugins.
type kind struct {
	register func(*admission.Plugins)
	// concerns are the resources that it looks at.
	concerns []schema.GroupResource
	// everywhere is false for plugins that are of no use without controllers.
	everywhere bool
}

var (
	pods   = schema.GroupResource{Resource: "pods"}
	claims = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// order is that of Kubernetes.
var order = []string{
	limitranger.PluginName, runtimeclass.PluginName, podsecurity.PluginName, priority.PluginName, nodetaint.PluginName,
	defaulttolerationseconds.PluginName, DefaultStorageClass, StorageObjectInUseProtection, resize.PluginName,
	defaultingressclass.PluginName,
}

var kinds = map[string]kind{
	limitranger.PluginName:  {limitranger.Register, []schema.GroupResource{pods, claims}, true},
	runtimeclass.PluginName: {runtimeclass.Register, []schema.GroupResource{pods}, true},
	podsecurity.PluginName: {podsecurity.Register, []schema.GroupResource{
		pods, {Resource: "namespaces"}, {Resource: "podtemplates"}, {Resource: "replicationcontrollers"},
		{Group: "apps", Resource: "daemonsets"}, {Group: "apps", Resource: "deployments"}, {Group: "apps", Resource: "replicasets"},
		{Group: "apps", Resource: "statefulsets"}, {Group: "batch", Resource: "cronjobs"}, {Group: "batch", Resource: "jobs"},
	}, true},
	priority.PluginName:                 {priority.Register, []schema.GroupResource{pods, {Group: "scheduling.k8s.io", Resource: "priorityclasses"}}, true},
	nodetaint.PluginName:                {nodetaint.Register, []schema.GroupResource{{Resource: "nodes"}}, false},
	defaulttolerationseconds.PluginName: {defaulttolerationseconds.Register, []schema.GroupResource{pods}, true},
	DefaultStorageClass:                 {registerStorageClass, []schema.GroupResource{claims}, true},
	StorageObjectInUseProtection: {
		registerProtection, []schema.GroupResource{claims, {Resource: "persistentvolumes"}, {Group: "storage.k8s.io", Resource: "volumeattributesclasses"}}, false,
	},
	resize.PluginName:              {resize.Register, []schema.GroupResource{claims}, true},
	defaultingressclass.PluginName: {defaultingressclass.Register, []schema.GroupResource{{Group: "networking.k8s.io", Resource: "ingresses"}}, true},
}

// Names returns the plugins, in order. Without controllers those are left out that put
// something on objects that only a controller takes away.
func Names(controllers bool) []string {
	var names []string
	for _, name := range order {
		if kinds[name].everywhere || controllers {
			names = append(names, name)
		}
	}
	return names
}

// plugin is one of upstream's plugins for all clusters. It is a mutating or a validating
// plugin, or both, as upstream's is: see New.
type plugin struct {
	name     string
	concerns map[schema.GroupResource]bool
	plugins  *admission.Plugins
	objects  Objects
	// model is an instance that is only asked what it handles.
	model admission.Interface
}

// New returns the plugin of a name, which has to be one of Names.
func New(name string, objects Objects) (admission.Interface, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no admission plugin %q", name)
	}
	p := &plugin{name: name, concerns: map[schema.GroupResource]bool{}, plugins: admission.NewPlugins(), objects: objects}
	k.register(p.plugins)
	for _, resource := range k.concerns {
		p.concerns[resource] = true
	}
	var err error
	if p.model, err = p.instance(context.Background()); err != nil {
		return nil, err
	}
	_, mutates := p.model.(admission.MutationInterface)
	_, validates := p.model.(admission.ValidationInterface)
	switch {
	case mutates && validates:
		return both{p}, nil
	case mutates:
		return mutating{p}, nil
	default:
		return validating{p}, nil
	}
}

// instance returns an instance that reads the cluster of ctx.
func (p *plugin) instance(ctx context.Context) (admission.Interface, error) {
	made, err := p.plugins.InitPlugin(p.name, nil, sources{ctx, p.objects})
	if err != nil {
		return nil, fmt.Errorf("making admission plugin %s: %w", p.name, err)
	}
	return made, nil
}

// Handles says whether the plugin looks at an operation.
func (p *plugin) Handles(operation admission.Operation) bool { return p.model.Handles(operation) }

func (p *plugin) admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.concerns[a.GetResource().GroupResource()] {
		return nil
	}
	made, err := p.instance(ctx)
	if err != nil {
		return err
	}
	return made.(admission.MutationInterface).Admit(ctx, a, o)
}

func (p *plugin) validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.concerns[a.GetResource().GroupResource()] {
		return nil
	}
	made, err := p.instance(ctx)
	if err != nil {
		return err
	}
	return made.(admission.ValidationInterface).Validate(ctx, a, o)
}

type (
	mutating   struct{ *plugin }
	validating struct{ *plugin }
	both       struct{ *plugin }
)

// Admit sets what upstream sets.
func (p mutating) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.admit(ctx, a, o)
}

// Validate refuses what upstream refuses.
func (p validating) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.validate(ctx, a, o)
}

// Admit sets what upstream sets.
func (p both) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.admit(ctx, a, o)
}

// Validate refuses what upstream refuses.
func (p both) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.validate(ctx, a, o)
}
