package workspacetypeexists

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Name of the plugin.
const Name = "tenancy.kcp.io/WorkspaceTypeExists"

// UseAuthorizer answers what users may do in other logical clusters.
type UseAuthorizer interface {
	// AllowedIn says whether the policy of cluster allows what attributes ask for,
	// whether or not the user may enter cluster.
	AllowedIn(ctx context.Context, cluster logicalcluster.Name, attributes authorizer.Attributes) (bool, error)
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	resolver   *tenancy.Resolver
	clusters   tenancy.Clusters
	authorizer UseAuthorizer
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New(resolver *tenancy.Resolver, clusters tenancy.Clusters, authorizer UseAuthorizer) *Plugin {
	return &Plugin{
		Handler:    admission.NewHandler(admission.Create),
		resolver:   resolver,
		clusters:   clusters,
		authorizer: authorizer,
	}
}

// Admit fills in spec.type and the labels that come with the type.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) {
		return nil
	}
	ws, err := request.As[tenancyv1alpha1.Workspace](a.GetObject())
	if err != nil || ws.Spec.Mount != nil {
		return nil //nolint:nilerr // because what cannot be read will not pass the schema, which says better why
	}
	parent, err := p.parent(ctx, a)
	if err != nil {
		return err
	}
	t, reference, err := p.choose(ctx, parent, ws.Spec.Type)
	if err != nil {
		return request.Failed(a, err)
	}
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&reference)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if err := request.SetMap(a.GetObject(), value, "spec", "type"); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return addLabels(a.GetObject(), t.Object.Spec.AdditionalWorkspaceLabels)
}

// choose returns the type asked for and what is to be written into spec.type. A path
// that was given stays as it is, be it a cluster name.
func (p *Plugin) choose(ctx context.Context, parent parent, asked *tenancyv1alpha1.WorkspaceTypeReference) (tenancy.Type, tenancyv1alpha1.WorkspaceTypeReference, error) {
	if asked == nil || asked.Name == "" {
		t, err := p.resolver.Default(ctx, parent.place.Cluster, parent.lc)
		if err != nil {
			return tenancy.Type{}, tenancyv1alpha1.WorkspaceTypeReference{}, err
		}
		return t, t.Reference(), nil
	}
	t, err := p.resolver.Find(ctx, parent.place, *asked)
	switch {
	case err != nil:
		return tenancy.Type{}, tenancyv1alpha1.WorkspaceTypeReference{}, err
	case asked.Path != "":
		return t, *asked, nil
	default:
		return t, t.Reference(), nil
	}
}

// Validate checks that the type may be used, and used here.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !concerns(a) {
		return nil
	}
	ws, err := request.As[tenancyv1alpha1.Workspace](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if ws.Spec.Mount != nil {
		return nil
	}
	if ws.Spec.Type == nil || ws.Spec.Type.Path == "" {
		return request.Denied(a, "spec.type must be set, with its path")
	}
	parent, err := p.parent(ctx, a)
	if err != nil {
		return err
	}
	child, err := p.resolver.Resolve(ctx, parent.place, *ws.Spec.Type)
	if err != nil {
		return request.Failed(a, err)
	}
	if err := p.checkUse(ctx, a, child); err != nil {
		return err
	}
	return p.checkPlacement(ctx, a, parent, child)
}

func (p *Plugin) checkPlacement(ctx context.Context, a admission.Attributes, parent parent, child *tenancy.Set) error {
	parentTypes, err := p.resolver.ResolveCluster(ctx, parent.place.Cluster, parent.lc)
	if err != nil {
		return request.Failed(a, err)
	}
	if err := tenancy.CheckPlacement(parentTypes, child); err != nil {
		return request.Failed(a, err)
	}
	return nil
}

// parent is the workspace that a new one will be in.
type parent struct {
	place tenancy.Place
	lc    *corev1alpha1.LogicalCluster
}

func (p *Plugin) parent(ctx context.Context, a admission.Attributes) (parent, error) {
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return parent{}, err
	}
	lc, err := p.clusters.Get(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return parent{}, request.Denied(a, "workspaces cannot be created here: there is no logical cluster")
	case err != nil:
		return parent{}, request.Failed(a, err)
	}
	return parent{place: tenancy.PlaceOf(cluster, lc), lc: lc}, nil
}

func concerns(a admission.Attributes) bool {
	return a.GetResource().GroupResource() == tenancyv1alpha1.Resource("workspaces") && a.GetSubresource() == ""
}

// addLabels adds labels to obj where it has none of that key.
func addLabels(obj runtime.Object, additional map[string]string) error {
	if len(additional) == 0 {
		return nil
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	labels := object.GetLabels()
	if labels == nil {
		labels = make(map[string]string, len(additional))
	}
	for key, value := range additional {
		if _, ok := labels[key]; !ok {
			labels[key] = value
		}
	}
	object.SetLabels(labels)
	return nil
}
