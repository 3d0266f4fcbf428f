package apiexport

import (
	"context"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// readVerbs are what a provider may do with the bindings to its export, without a claim.
var readVerbs = []string{"get", "list", "watch"}

// resource is what an export serves under one name.
type resource struct {
	name apischema.GroupResource
	// served is what the objects of all consumers are shown by. It has no definition if the
	// resource is built in.
	served schema.Served
	// claim is what the export asks for; nil if the resource is its own. That of bindings
	// is there even if the export does not ask for them.
	claim *apisv1alpha2.PermissionClaim
	// unasked says that the claim is not in the export.
	unasked bool
}

// isBuiltin says whether the resource is served by upstream's registries.
func (r *resource) isBuiltin() bool { return r.served.Definition == nil }

// ofIdentity says whether the resource is bound from some export.
func (r *resource) ofIdentity() bool { return r.served.IsBound() }

// subresources are those that are served.
func (r *resource) subresources() []string {
	switch {
	case r.ofIdentity():
		return []string{"scale", "status"}
	case r.name.Group == apisv1alpha2.GroupName:
		// What the server trusts stands in these statuses: they are nobody else's.
		return nil
	default:
		// Others give powers that nobody has asked for: making tokens, for example.
		return []string{"status"}
	}
}

// resource returns what an export serves under a name. ok is false if that is nothing.
// Its own resources hide those it claims.
func (w *Workspace) resource(ctx context.Context, e export, name apischema.GroupResource) (_ *resource, ok bool, _ error) {
	for i := range e.Spec.Resources {
		own := &e.Spec.Resources[i]
		if own.Name == name.Resource && own.Group == name.Group {
			return w.exported(ctx, e, own)
		}
	}
	if claim, ok := claimOf(e, name); ok {
		return w.claimed(ctx, name, claim)
	}
	if name == bindings {
		return w.ownBindings(), true, nil
	}
	return nil, false, nil
}

// bindings are visible to every provider whom they are to.
var bindings = apisv1alpha2.Resource("apibindings")

func claimOf(e export, name apischema.GroupResource) (*apisv1alpha2.PermissionClaim, bool) {
	for i := range e.Spec.PermissionClaims {
		claim := &e.Spec.PermissionClaims[i]
		if permissionclaims.Stored(permissionclaims.NameOf(*claim).GroupResource) == permissionclaims.Stored(name) {
			return claim, true
		}
	}
	return nil, false
}

// exported returns one of the export's own resources. Those whose objects are somewhere
// else are not served.
func (w *Workspace) exported(ctx context.Context, e export, own *apisv1alpha2.ResourceSchema) (*resource, bool, error) {
	served, ok, err := w.definition(ctx, e, own)
	if err != nil || !ok {
		return nil, false, err
	}
	return &resource{name: served.Definition.GroupResource(), served: served}, true, nil
}

// definition returns what the objects of an export's own resource are shown by.
func (w *Workspace) definition(ctx context.Context, e export, own *apisv1alpha2.ResourceSchema) (_ schema.Served, ok bool, _ error) {
	name := apischema.GroupResource{Group: own.Group, Resource: own.Name}
	identity, ok := w.Identities.Storage(name, e.Status.IdentityHash)
	if !ok || own.Storage.Virtual != nil || w.Reserved(name) {
		return schema.Served{}, false, nil
	}
	described, err := w.APIs.Schema(ctx, e.cluster, own.Schema)
	if err != nil {
		return schema.Served{}, false, ignoreNotFound(err)
	}
	conversion, err := w.APIs.Conversion(ctx, e.cluster, own.Schema)
	if ignoreNotFound(err) != nil {
		return schema.Served{}, false, err
	}
	if err != nil {
		conversion = nil
	}
	definition, err := w.Definitions.OfSchema(described, e.cluster, conversion)
	if err != nil {
		return schema.Served{}, false, err
	}
	return schema.Served{
		Definition: definition,
		Identity:   identity,
		Export:     schema.Export{Cluster: e.cluster, Name: e.Name, IdentityHash: e.Status.IdentityHash},
	}, definition.GroupResource() == name, nil
}

// claimed returns a resource that an export asks for.
func (w *Workspace) claimed(ctx context.Context, name apischema.GroupResource, claim *apisv1alpha2.PermissionClaim) (*resource, bool, error) {
	r := &resource{name: name, claim: claim}
	var ok bool
	var err error
	switch {
	case claim.IdentityHash != "":
		r.served, ok, err = w.ofOthers(ctx, name, claim.IdentityHash)
	case !permissionclaims.IsClaimable(name):
	default:
		// What is not among the definitions of all clusters is built in.
		r.served, ok = w.system(name)
		ok = ok || name.Group != apisv1alpha2.GroupName
	}
	return r, ok, err
}

// ownBindings is what an export sees of bindings if it does not ask for more.
func (w *Workspace) ownBindings() *resource {
	served, _ := w.system(bindings)
	claim := &apisv1alpha2.PermissionClaim{
		GroupResource: apisv1alpha2.GroupResource{Group: bindings.Group, Resource: bindings.Resource},
		Verbs:         readVerbs,
	}
	return &resource{name: bindings, served: served, claim: claim, unasked: true}
}

// system returns one of our APIs that every cluster has without binding it.
func (w *Workspace) system(name apischema.GroupResource) (schema.Served, bool) {
	served, ok := w.Catalog.Lookup(logicalcluster.Wildcard, name)
	return served, ok && !served.IsBound() && served.Identity == ""
}

// ofOthers returns a resource of the exports with an identity: as one of them has it now,
// or as it was bound when there was one.
func (w *Workspace) ofOthers(ctx context.Context, name apischema.GroupResource, identityHash string) (schema.Served, bool, error) {
	for _, provider := range w.providers.of(identityHash) {
		found, err := w.APIs.Export(ctx, provider.cluster, provider.name)
		if err != nil {
			if err = ignoreNotFound(err); err != nil {
				return schema.Served{}, false, err
			}
			continue
		}
		for i := range found.Spec.Resources {
			own := &found.Spec.Resources[i]
			if own.Name != name.Resource || own.Group != name.Group {
				continue
			}
			served, ok, err := w.definition(ctx, export{APIExport: found, cluster: provider.cluster}, own)
			if err != nil || ok {
				return served, ok, err
			}
		}
	}
	served, ok := w.Catalog.LookupIdentity(name, identityHash)
	return served, ok, nil
}

// selection returns all that the export of a request serves, for its documents.
func (w *Workspace) selection(req *http.Request) (schema.Selection, error) {
	ctx := req.Context()
	e, _, err := w.exportOf(ctx)
	if err != nil {
		return schema.Selection{}, err
	}
	var selected schema.Selection
	for _, name := range names(e) {
		r, ok, err := w.resource(ctx, e, name)
		if err != nil {
			return schema.Selection{}, err
		}
		if !ok {
			continue
		}
		if !r.isBuiltin() {
			selected.Definitions = append(selected.Definitions, r.served)
		}
		if !r.ofIdentity() {
			shown := schema.Shown{Resource: name, Subresources: r.subresources()}
			if r.unasked {
				shown.Verbs = r.claim.Verbs
			}
			selected.Shown = append(selected.Shown, shown)
		}
	}
	slices.SortFunc(selected.Definitions, schema.Served.Compare)
	return selected, nil
}

// names returns the resources that an export names, once each, and that of bindings.
func names(e export) []apischema.GroupResource {
	var all []apischema.GroupResource
	add := func(group, resource string) {
		if name := (apischema.GroupResource{Group: group, Resource: resource}); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, own := range e.Spec.Resources {
		add(own.Group, own.Name)
	}
	for _, claim := range e.Spec.PermissionClaims {
		add(claim.Group, claim.Resource)
		if permissionclaims.Stored(permissionclaims.NameOf(claim).GroupResource) == (apischema.GroupResource{Resource: "events"}) && claim.IdentityHash == "" {
			// The same objects are served in two groups.
			add("", "events")
			add("events.k8s.io", "events")
		}
	}
	add(bindings.Group, bindings.Resource)
	return all
}

// ignoreNotFound returns err, or nil if it says that there is no such object.
func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
