package binding

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	slicesResource = apisv1alpha1.GroupVersion.WithResource("apiexportendpointslices")
	shards         = corev1alpha1.GroupVersion.WithResource("shards")
)

// Gatherer asks the server.
type Gatherer struct {
	Client   *client.Client
	Commands diagnosis.Commands
}

// Diagnose finds out what is wrong with the binding called name in the workspace consumer.
// A name of the form <path>:<export> is about a binding to that export that is not there
// yet. An error says that there is no such binding, or that it could not be asked for.
func Diagnose(ctx context.Context, c *client.Client, consumer logicalcluster.Path, name string) (*diagnosis.Diagnosis, error) {
	f, err := Gatherer{Client: c, Commands: diagnosis.Commands{URL: c.URL}}.Gather(ctx, consumer, name)
	if err != nil {
		return nil, err
	}
	return Judge(f), nil
}

// Gather asks for everything that matters about a binding.
func (g Gatherer) Gather(ctx context.Context, consumer logicalcluster.Path, name string) (*Findings, error) {
	apis, err := g.Client.APIs(ctx, consumer)
	if err != nil {
		return nil, err
	}
	f := &Findings{Consumer: consumer, Commands: g.Commands, Now: time.Now(), Objects: map[string]int{}, Denied: map[schema.GroupResource]Denial{}}
	if err := g.subject(ctx, f, apis, name); err != nil {
		return nil, err
	}
	// What may not be read of the consumer leaves conflicts unexplained, no more.
	all, _ := apis.Bindings(ctx)
	f.Others = slices.DeleteFunc(all, func(b client.Binding) bool { return f.Binding != nil && b.Name == f.Binding.Name })
	f.Definitions, _ = g.Client.Definitions(ctx, consumer)
	user, _ := g.Client.WhoAmI(ctx, consumer)
	f.User = diagnosis.KnownAs(user)

	g.provider(ctx, f, apis)
	g.conflicts(ctx, f)
	if f.Binding != nil {
		g.bound(ctx, f)
	}
	return f, nil
}

// subject finds what it is about.
func (g Gatherer) subject(ctx context.Context, f *Findings, apis *client.APIs, name string) error {
	if reference := strings.TrimPrefix(name, ":"); strings.Contains(reference, ":") {
		i := strings.LastIndex(reference, ":")
		path, err := logicalcluster.ParsePath(reference[:i])
		if err != nil {
			return err
		}
		f.Provider, f.ExportName = path, reference[i+1:]
		f.TryErr = try(ctx, apis, f)
		f.Lacks = g.lacks(ctx, f.Consumer)
		return unreachable(f.TryErr)
	}
	binding, err := apis.Binding(ctx, name)
	if err != nil {
		return err
	}
	f.Binding, f.Provider = binding, f.Consumer
	if export := binding.Spec.Reference.Export; export != nil {
		f.ExportName = export.Name
		if path, err := logicalcluster.ParsePath(export.Path); err == nil {
			f.Provider = path
		}
	}
	return nil
}

// lacks returns the verbs that the caller needs to make bindings in the workspace in, and
// has not got.
func (g Gatherer) lacks(ctx context.Context, in logicalcluster.Path) []string {
	return slices.DeleteFunc(slices.Clone(diagnosis.MakingBindings), func(verb string) bool {
		may, err := g.Client.May(ctx, in, authorizationv1.ResourceAttributes{Verb: verb, Group: apisv1alpha2.GroupName, Resource: "apibindings"})
		return may || err != nil
	})
}

// unreachable returns err if it is that of a server that does not answer.
func unreachable(err error) error {
	if transport := (*url.Error)(nil); errors.As(err, &transport) {
		return err
	}
	return nil
}

// try asks the server to check a binding, without making one.
func try(ctx context.Context, apis *client.APIs, f *Findings) error {
	binding := &apisv1alpha2.APIBinding{
		TypeMeta:   apis.TypeMeta("APIBinding"),
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"},
		Spec: apisv1alpha2.APIBindingSpec{Reference: apisv1alpha2.BindingReference{
			Export: &apisv1alpha2.ExportBindingReference{Path: f.Provider.String(), Name: f.ExportName},
		}},
	}
	_, err := apis.CreateBinding(ctx, binding, true)
	return err
}

// provider finds out about the export.
func (g Gatherer) provider(ctx context.Context, f *Findings, apis *client.APIs) {
	there := apis.In(f.Provider)
	f.MayBind, f.MayBindErr = g.Client.Review(ctx, f.Provider, authorizationv1.ResourceAttributes{
		Verb: "bind", Group: apisv1alpha2.GroupName, Resource: "apiexports", Name: f.ExportName,
	})
	f.Export, f.ExportErr = there.Export(ctx, f.ExportName)
	if f.ExportErr != nil {
		f.Export = nil
	}
	if f.Export == nil && !apierrors.IsNotFound(f.ExportErr) {
		f.SlicesErr = f.ExportErr
		return
	}
	// What is beside the export is for suggestions only.
	f.Exports, _ = there.Exports(ctx)
	if f.Export == nil {
		return
	}
	patch, err := g.Client.Review(ctx, f.Provider, authorizationv1.ResourceAttributes{
		Verb: "patch", Group: apisv1alpha2.GroupName, Resource: "apiexports", Name: f.ExportName,
	})
	f.MayPatchExport = err == nil && patch.Allowed
	for _, resource := range f.Export.Spec.Resources {
		if _, err := there.ResourceSchema(ctx, resource.Schema); apierrors.IsNotFound(err) {
			f.MissingSchemas = append(f.MissingSchemas, resource.Schema)
		}
	}
	var all []apisv1alpha1.APIExportEndpointSlice
	all, f.SlicesErr = client.List[apisv1alpha1.APIExportEndpointSlice](ctx, g.Client, f.Provider, slicesResource)
	f.Slices = slices.DeleteFunc(all, func(s apisv1alpha1.APIExportEndpointSlice) bool { return s.Spec.APIExport.Name != f.ExportName })
	if known, err := client.List[corev1alpha1.Shard](ctx, g.Client, logicalcluster.Root.Path(), shards); err == nil {
		f.Shards = len(known)
	}
}

// conflicts counts the objects of definitions that are in the way.
func (g Gatherer) conflicts(ctx context.Context, f *Findings) {
	for i := range f.Definitions {
		crd := &f.Definitions[i]
		resource := schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
		if !offered(f, resource) && !strings.Contains(obstacle(f), `"`+crd.Name+`"`) {
			continue
		}
		if n, err := g.Client.Count(ctx, f.Consumer, resource); err == nil {
			f.Objects[crd.Name] = n
		}
	}
}

// offered says whether the export has a resource.
func offered(f *Findings, resource schema.GroupResource) bool {
	return f.Export != nil && slices.ContainsFunc(f.Export.Spec.Resources, func(r apisv1alpha2.ResourceSchema) bool {
		return r.Group == resource.Group && r.Name == resource.Resource
	})
}

// bound finds out about what the binding gives: what of it the caller may not have, and
// what holds it while the binding goes.
func (g Gatherer) bound(ctx context.Context, f *Findings) {
	g.denied(ctx, f)
	if f.Binding.DeletionTimestamp == nil {
		return
	}
	served, err := g.Client.Resources(ctx, f.Consumer)
	if err != nil {
		f.Unread = []string{"everything"}
		return
	}
	served = slices.DeleteFunc(served, func(r schema.GroupVersionResource) bool {
		return find(f.Binding.Status.BoundResources, r.GroupResource()) == nil
	})
	f.Held, f.Unread = finalizer.Find(ctx, g.Client, f.Consumer, served)
}

// denied finds out what of the bound resources the caller may not have, and because of whom.
func (g Gatherer) denied(ctx context.Context, f *Findings) {
	for _, b := range f.Binding.Status.BoundResources {
		answer, err := g.Client.Review(ctx, f.Consumer, authorizationv1.ResourceAttributes{Verb: "list", Group: b.Group, Resource: b.Resource})
		if err == nil && !answer.Allowed {
			f.Denied[schema.GroupResource{Group: b.Group, Resource: b.Resource}] = Denial{Reason: answer.Reason}
		}
	}
	if len(f.Denied) == 0 {
		return
	}
	rules, complete, err := g.Client.Rules(ctx, f.Consumer)
	if err != nil {
		return
	}
	for resource, denial := range f.Denied {
		switch {
		case grants(rules, "list", resource):
			denial.By = ProviderPolicy
		case complete:
			denial.By = ConsumerPolicy
		}
		f.Denied[resource] = denial
	}
}

// grants says whether one of rules grants the verb on all objects of a resource.
func grants(rules []authorizationv1.ResourceRule, verb string, resource schema.GroupResource) bool {
	has := func(in []string, what string) bool {
		return slices.Contains(in, what) || slices.Contains(in, rbacv1.ResourceAll)
	}
	return slices.ContainsFunc(rules, func(r authorizationv1.ResourceRule) bool {
		return len(r.ResourceNames) == 0 && has(r.Verbs, verb) && has(r.APIGroups, resource.Group) && has(r.Resources, resource.Resource)
	})
}

// find returns what is bound of a resource, nil if it is not.
func find(all []apisv1alpha2.BoundAPIResource, resource schema.GroupResource) *apisv1alpha2.BoundAPIResource {
	i := slices.IndexFunc(all, func(b apisv1alpha2.BoundAPIResource) bool {
		return b.Group == resource.Group && b.Resource == resource.Resource
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

// definition returns the CustomResourceDefinition of a resource, nil if there is none.
func definition(all []apiextensionsv1.CustomResourceDefinition, resource schema.GroupResource) *apiextensionsv1.CustomResourceDefinition {
	i := slices.IndexFunc(all, func(crd apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Spec.Group == resource.Group && crd.Spec.Names.Plural == resource.Resource
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}
