package apibinding

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// facts are what there is to know before a binding is decided about.
type facts struct {
	binding.Input
	// lc is the LogicalCluster, if resources or names are to be taken.
	lc *corev1alpha1.LogicalCluster
	// exists says that there is a binding of that name.
	exists bool
	// schemas are what the export offers, by UID.
	schemas map[string]offered
}

// offered is a schema with what becomes of it when it is bound.
type offered struct {
	schema     *apisv1alpha1.APIResourceSchema
	conversion *apisv1alpha1.APIConversion
	definition *schema.Definition
}

// gather finds out what decides about a binding that takes nothing. All of it is in memory.
func (r *reconciler) gather(ctx context.Context, cluster logicalcluster.Name, b *apisv1alpha2.APIBinding) (*facts, error) {
	f := &facts{schemas: map[string]offered{}}
	f.Input = binding.Input{Cluster: cluster, Binding: b, Bound: map[apischema.GroupResource]*schema.Definition{}, Now: r.now()}
	var err error
	if f.Export, err = r.export(ctx, cluster, b, f.schemas); err != nil {
		return nil, err
	}
	for _, bound := range b.Status.BoundResources {
		definition, err := r.stored.get(ctx, bound.Schema.UID)
		if err != nil {
			return nil, err
		}
		if definition != nil {
			f.Bound[apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}] = definition
		}
	}
	return f, nil
}

// gatherRivals finds out who else has resources and names in the workspace, none of it older
// than the last write. The LogicalCluster is read first, if it has not been: whatever takes
// something afterwards changes it.
func (r *reconciler) gatherRivals(ctx context.Context, f *facts) error {
	if f.lc == nil {
		lc, err := r.Clusters.GetCurrent(ctx, f.Cluster)
		if apierrors.IsNotFound(err) {
			f.ClusterGone = true
			return nil
		}
		if err != nil {
			return err
		}
		f.lc = lc
	}
	bindings, err := r.APIs.CurrentBindings(ctx, f.Cluster)
	if err != nil {
		return err
	}
	for i := range bindings {
		if bindings[i].Name == f.Binding.Name {
			f.exists = true
			continue
		}
		f.Rivals = append(f.Rivals, binding.OfBinding(&bindings[i], r.definitionOf(ctx))...)
	}
	definitions, err := r.Definitions.List(ctx, f.Cluster)
	if err != nil {
		return err
	}
	for _, crd := range definitions {
		if crd.Status.AcceptedNames.Plural != "" {
			f.Rivals = append(f.Rivals, binding.OfDefinition(crd, apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)))
		}
	}
	groups := sets.New[string]()
	for _, offer := range f.Export.Offers {
		if !groups.Has(offer.Resource.Group) {
			groups.Insert(offer.Resource.Group)
			f.Rivals = append(f.Rivals, r.Reserved(f.Cluster, offer.Resource.Group)...)
		}
	}
	return nil
}

// export returns what a binding refers to with what it offers, nil if there is no such
// export. What schemas become is noted in schemas.
func (r *reconciler) export(ctx context.Context, cluster logicalcluster.Name, b *apisv1alpha2.APIBinding, schemas map[string]offered) (*binding.Export, error) {
	named := b.Spec.Reference.Export
	if named == nil || named.Name == "" {
		return nil, nil
	}
	where, object, err := r.Exports.Export(ctx, cluster, named.Path, named.Name)
	if exportref.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	export := &binding.Export{Cluster: where, Object: object, Offers: make([]binding.Offer, 0, len(object.Spec.Resources))}
	for _, resource := range object.Spec.Resources {
		offer, err := r.offer(ctx, export, resource, schemas)
		if err != nil {
			return nil, err
		}
		export.Offers = append(export.Offers, offer)
	}
	return export, nil
}

// offer returns what an export offers as one of its resources.
func (r *reconciler) offer(ctx context.Context, export *binding.Export, resource apisv1alpha2.ResourceSchema, schemas map[string]offered) (binding.Offer, error) {
	offer := binding.Offer{
		Resource: apischema.GroupResource{Group: resource.Group, Resource: resource.Name},
		Schema:   resource.Schema,
		Virtual:  resource.Storage.Virtual != nil,
	}
	_, mine := r.Identities.Storage(offer.Resource, export.Object.Status.IdentityHash)
	offer.Reserved = !mine
	s, err := r.APIs.Schema(ctx, export.Cluster, resource.Schema)
	if apierrors.IsNotFound(err) {
		return offer, nil
	}
	if err != nil {
		return offer, err
	}
	offer.UID = s.UID
	conversion, err := r.APIs.Conversion(ctx, export.Cluster, resource.Schema)
	if err != nil && !apierrors.IsNotFound(err) {
		return offer, err
	}
	if err != nil {
		conversion = nil
	}
	if describes := schema.BoundResource(s); describes != offer.Resource {
		offer.Err = fmt.Errorf("it describes %s and not %s", describes, offer.Resource)
		return offer, nil
	}
	if offer.Definition, offer.Err = r.Bound.OfSchema(s, export.Cluster, conversion); offer.Err == nil {
		schemas[string(s.UID)] = offered{schema: s, conversion: conversion, definition: offer.Definition}
	}
	return offer, nil
}

// served returns what a binding gives by its status.
func (r *reconciler) served(b *apisv1alpha2.APIBinding, definition func(apisv1alpha2.BoundAPIResource) *schema.Definition) []schema.Served {
	export := b.Spec.Reference.Export
	where, err := logicalcluster.ParseName(b.Status.APIExportClusterName)
	if err != nil || export == nil {
		return nil
	}
	served := make([]schema.Served, 0, len(b.Status.BoundResources))
	for _, bound := range b.Status.BoundResources {
		d := definition(bound)
		identity, ok := r.Identities.Storage(apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}, bound.Schema.IdentityHash)
		if d == nil || !ok {
			continue
		}
		served = append(served, schema.Served{
			Definition:  d,
			Identity:    identity,
			Export:      schema.Export{Cluster: where, Name: export.Name, IdentityHash: bound.Schema.IdentityHash},
			Terminating: !b.DeletionTimestamp.IsZero(),
		})
	}
	return served
}

// definition returns what a bound resource is served by, as these facts have it: the
// schema as it is offered, with its conversion of today, or else what is stored.
func (f *facts) definition(stored func(apisv1alpha2.BoundAPIResource) *schema.Definition) func(apisv1alpha2.BoundAPIResource) *schema.Definition {
	return func(bound apisv1alpha2.BoundAPIResource) *schema.Definition {
		if offered, ok := f.schemas[bound.Schema.UID]; ok {
			return offered.definition
		}
		return stored(bound)
	}
}

func (r *reconciler) now() metav1.Time { return metav1.NewTime(r.Clock.Now()) }
