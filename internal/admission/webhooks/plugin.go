package webhooks

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Names of the plugins.
const (
	MutatingName   = "apis.kcp.io/MutatingWebhook"
	ValidatingName = "apis.kcp.io/ValidatingWebhook"
)

// Config is what the plugins need. All of it is required but what says otherwise.
type Config struct {
	// Sources are what configurations and namespaces are read from.
	Sources informers.Sources
	// Authorizer answers what match conditions ask about the caller.
	Authorizer authorizer.Authorizer
	// Single says that clients know of one cluster only, whose webhooks are not told of it.
	Single bool
}

// Mutating is the plugin that asks mutating webhooks.
type Mutating struct {
	*admission.Handler
	single  bool
	index   *configurations.Index
	plugins *configurations.Instances[*plugins[*mutating.Plugin]]
}

// Validating is the plugin that asks validating webhooks.
type Validating struct {
	*admission.Handler
	single  bool
	index   *configurations.Index
	plugins *configurations.Instances[*plugins[*validating.Plugin]]
}

var (
	_ admission.MutationInterface   = &Mutating{}
	_ admission.ValidationInterface = &Validating{}
)

func handler() *admission.Handler {
	return admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update)
}

// NewMutating returns the plugin that asks mutating webhooks.
func NewMutating(config Config) *Mutating {
	create := func(ctx context.Context, owner logicalcluster.Name, here informers.Where) (*mutating.Plugin, error) {
		plugin, err := mutating.NewMutatingWebhook(nil)
		if err != nil {
			return nil, err
		}
		return plugin, config.initialize(ctx, owner, here, plugin.Webhook)
	}
	index := config.Sources.Index
	return &Mutating{handler(), config.Single, index, configurations.NewInstances(index, open(create), configurations.MutatingWebhooks)}
}

// NewValidating returns the plugin that asks validating webhooks.
func NewValidating(config Config) *Validating {
	create := func(ctx context.Context, owner logicalcluster.Name, here informers.Where) (*validating.Plugin, error) {
		plugin, err := validating.NewValidatingAdmissionWebhook(nil)
		if err != nil {
			return nil, err
		}
		return plugin, config.initialize(ctx, owner, here, plugin.Webhook)
	}
	index := config.Sources.Index
	return &Validating{handler(), config.Single, index, configurations.NewInstances(index, open(create), configurations.ValidatingWebhooks)}
}

// initialize gives upstream's plugin what it needs to ask the webhooks of one cluster about
// objects that are in another, or the same.
func (c Config) initialize(ctx context.Context, owner logicalcluster.Name, here informers.Where, plugin *generic.Webhook) error {
	plugin.SetAuthenticationInfoResolverWrapper(newTransports(ctx).wrap)
	plugin.SetExternalKubeClientSet(c.Sources.ClientFor(here))
	plugin.SetExternalKubeInformerFactory(c.Sources.FactoryFor(ctx, owner, here))
	plugin.SetAuthorizer(authorizerIn(here, c.Authorizer))
	return plugin.ValidateInitialization()
}

// Admit asks the webhooks that apply to the object, which may change it.
func (p *Mutating) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return ask(ctx, a, p.single, p.index, p.plugins, func(plugin *mutating.Plugin) error { return plugin.Admit(ctx, a, o) })
}

// Validate asks the webhooks that apply to the object.
func (p *Validating) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return ask(ctx, a, p.single, p.index, p.plugins, func(plugin *validating.Plugin) error { return plugin.Validate(ctx, a, o) })
}

// ask calls upstream's plugin if there are any webhooks.
func ask[P any](ctx context.Context, a admission.Attributes, single bool, index *configurations.Index,
	all *configurations.Instances[*plugins[P]], call func(P) error,
) error {
	// No webhook is asked about configurations: a broken one could not be removed.
	if rules.IsExemptAdmissionConfigurationResource(a) {
		return nil
	}
	owner, err := index.Whose(ctx, a)
	if err != nil {
		return err
	}
	plugins, ok, err := all.Get(ctx, owner)
	switch {
	case errors.Is(err, configurations.ErrNotReady):
		return admission.NewForbidden(a, err)
	case err != nil:
		return request.Failed(a, err)
	case !ok:
		return nil
	}
	here, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	plugin, done, err := plugins.take(here)
	if err != nil {
		return request.Failed(a, err)
	}
	defer done()
	shown := here.String()
	if single {
		shown = ""
	}
	defer show(a.GetObject(), shown)()
	return call(plugin)
}
