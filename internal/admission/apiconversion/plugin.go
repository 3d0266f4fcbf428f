package apiconversion

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/conversion"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "apis.kcp.io/APIConversion"

var (
	conversions = apisv1alpha1.Resource("apiconversions")
	schemas     = apisv1alpha1.Resource("apiresourceschemas")
)

// Reader reads what belongs together. What is not there is a NotFound Status.
type Reader interface {
	Schema(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error)
	Conversion(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIConversion, error)
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	reader Reader
}

var _ admission.ValidationInterface = &Plugin{}

// New returns the plugin.
func New(reader Reader) *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update), reader: reader}
}

// Validate refuses rules that cannot work, and schemas that do not fit the rules that are
// there for them.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	switch a.GetResource().GroupResource() {
	case conversions:
		return p.conversion(ctx, cluster, a)
	case schemas:
		// A schema never changes.
		if a.GetOperation() == admission.Create {
			return p.schema(ctx, cluster, a)
		}
	}
	return nil
}

// conversion checks rules. Those that have not changed are left alone: the schema may have
// come when nobody looked, and other fields have to be writable.
func (p *Plugin) conversion(ctx context.Context, cluster logicalcluster.Name, a admission.Attributes) error {
	written, err := request.As[apisv1alpha1.APIConversion](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if a.GetOperation() == admission.Update {
		old, err := request.As[apisv1alpha1.APIConversion](a.GetOldObject())
		if err == nil && equality.Semantic.DeepEqual(old.Spec, written.Spec) {
			return nil
		}
	}
	var versions []conversion.Version
	schema, err := p.reader.Schema(ctx, cluster, a.GetName())
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return request.Failed(a, err)
	default:
		if versions, err = conversion.VersionsOf(schema); err != nil {
			return request.Denied(a, "schema %s: %w", schema.Name, err)
		}
	}
	return refused(a, conversion.Check(&written.Spec, versions))
}

// schema checks the rules that there are for a schema.
func (p *Plugin) schema(ctx context.Context, cluster logicalcluster.Name, a admission.Attributes) error {
	rules, err := p.reader.Conversion(ctx, cluster, a.GetName())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return request.Failed(a, err)
	}
	written, err := request.As[apisv1alpha1.APIResourceSchema](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	versions, err := conversion.VersionsOf(written)
	if err != nil {
		// What is wrong with the schema itself, others say.
		return nil //nolint:nilerr // because it is not this plugin's business
	}
	if errs := conversion.Check(&rules.Spec, versions); len(errs) > 0 {
		return request.Denied(a, "the schema does not fit the APIConversion of its name: %w", errs.ToAggregate())
	}
	return nil
}

func refused(a admission.Attributes, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs)
}
