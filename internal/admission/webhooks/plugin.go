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

// Config is what the plugins need. All of it is required.
type Config struct {
	// Sources are what configurations and namespaces are read from.
	Sources informers.Sources
	// Authorizer answers what match conditions ask about the caller.
	Authorizer authorizer.Authorizer
}

// Mutating is the plugin that asks mutating webhooks.
type Mutating struct {
	*admission.Handler
	plugins *configurations.Instances[*mutating.Plugin]
}

// Validating is the plugin that asks validating webhooks.
type Validating struct {
	*admission.Handler
	plugins *configurations.Instances[*validating.Plugin]
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
	create := func(ctx context.Context, cluster logicalcluster.Name) (*mutating.Plugin, error) {
		plugin, err := mutating.NewMutatingWebhook(nil)
		if err != nil {
			return nil, err
		}
		return plugin, config.initialize(ctx, cluster, plugin.Webhook)
	}
	return &Mutating{handler(), configurations.NewInstances(config.Sources.Index, create, configurations.MutatingWebhooks)}
}

// NewValidating returns the plugin that asks validating webhooks.
func NewValidating(config Config) *Validating {
	create := func(ctx context.Context, cluster logicalcluster.Name) (*validating.Plugin, error) {
		plugin, err := validating.NewValidatingAdmissionWebhook(nil)
		if err != nil {
			return nil, err
		}
		return plugin, config.initialize(ctx, cluster, plugin.Webhook)
	}
	return &Validating{handler(), configurations.NewInstances(config.Sources.Index, create, configurations.ValidatingWebhooks)}
}

// initialize gives upstream's plugin what it needs to work for one cluster.
func (c Config) initialize(ctx context.Context, cluster logicalcluster.Name, plugin *generic.Webhook) error {
	plugin.SetAuthenticationInfoResolverWrapper(newTransports(ctx).wrap)
	plugin.SetExternalKubeClientSet(c.Sources.Client(cluster))
	plugin.SetExternalKubeInformerFactory(c.Sources.Factory(ctx, cluster))
	plugin.SetAuthorizer(authorizerIn(cluster, c.Authorizer))
	return plugin.ValidateInitialization()
}

// Admit asks the webhooks of the workspace, which may change the object.
func (p *Mutating) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return ask(ctx, a, p.plugins, func(plugin *mutating.Plugin) error { return plugin.Admit(ctx, a, o) })
}

// Validate asks the webhooks of the workspace.
func (p *Validating) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return ask(ctx, a, p.plugins, func(plugin *validating.Plugin) error { return plugin.Validate(ctx, a, o) })
}

// ask calls upstream's plugin if the workspace has any webhooks.
func ask[P any](ctx context.Context, a admission.Attributes, plugins *configurations.Instances[P], call func(P) error) error {
	// No webhook is asked about configurations: a broken one could not be removed.
	if rules.IsExemptAdmissionConfigurationResource(a) {
		return nil
	}
	owner, err := configurations.Whose(ctx, a)
	if err != nil {
		return err
	}
	plugin, ok, err := plugins.Get(ctx, owner)
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
	defer show(a.GetObject(), here)()
	return call(plugin)
}
