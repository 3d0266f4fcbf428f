package defaultbindings

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// offers returns what an export offers.
func (p *Planner) offers(ctx context.Context, cluster logicalcluster.Name, export *apisv1alpha2.APIExport) ([]binding.Offer, error) {
	offers := make([]binding.Offer, 0, len(export.Spec.Resources))
	for i := range export.Spec.Resources {
		offer, err := p.offer(ctx, cluster, export, &export.Spec.Resources[i])
		if err != nil {
			return nil, err
		}
		offers = append(offers, offer)
	}
	return offers, nil
}

func (p *Planner) offer(ctx context.Context, cluster logicalcluster.Name, export *apisv1alpha2.APIExport, resource *apisv1alpha2.ResourceSchema) (binding.Offer, error) {
	offer := binding.Offer{
		Resource: apischema.GroupResource{Group: resource.Group, Resource: resource.Name},
		Schema:   resource.Schema,
		Virtual:  resource.Storage.Virtual != nil,
	}
	_, possible := p.Identities.Storage(offer.Resource, export.Status.IdentityHash)
	offer.Reserved = !possible
	described, err := p.APIs.Schema(ctx, cluster, resource.Schema)
	if apierrors.IsNotFound(err) {
		return offer, nil
	}
	if err != nil {
		return offer, fmt.Errorf("reading schema %s: %w", resource.Schema, err)
	}
	conversion, err := p.APIs.Conversion(ctx, cluster, resource.Schema)
	if apierrors.IsNotFound(err) {
		conversion, err = nil, nil
	}
	if err != nil {
		return offer, fmt.Errorf("reading the conversion of schema %s: %w", resource.Schema, err)
	}
	offer.UID = described.UID
	if describes := schema.BoundResource(described); describes != offer.Resource {
		offer.Err = fmt.Errorf("it describes %s and not %s", describes, offer.Resource)
		return offer, nil
	}
	offer.Definition, offer.Err = p.Definitions.OfSchema(described, cluster, conversion)
	return offer, nil
}

// stored says whether there are stored definitions of all that an export offers: somebody
// has bound it before.
func (p *Planner) stored(ctx context.Context, export *binding.Export) (bool, error) {
	for i := range export.Offers {
		name := string(export.Offers[i].UID)
		if name == "" {
			return false, nil
		}
		if known, err := p.Stored.Has(ctx, logicalcluster.BoundCRDs, name); err != nil || !known {
			return false, err
		}
	}
	return true, nil
}

// served returns what the catalog has to know of an export that has been bound.
func (p *Planner) served(export *binding.Export) []schema.Served {
	from := schema.Export{
		Cluster: export.Cluster, Name: export.Object.Name, IdentityHash: export.Object.Status.IdentityHash,
	}
	served := make([]schema.Served, 0, len(export.Offers))
	for i := range export.Offers {
		offer := &export.Offers[i]
		identity, ok := p.Identities.Storage(offer.Resource, from.IdentityHash)
		if !ok || offer.Definition == nil {
			continue
		}
		served = append(served, schema.Served{Definition: offer.Definition, Identity: identity, Export: from})
	}
	return served
}

func definitionIn(served []schema.Served) func(apisv1alpha2.BoundAPIResource) *schema.Definition {
	return func(bound apisv1alpha2.BoundAPIResource) *schema.Definition {
		for _, s := range served {
			if s.Definition.GroupResource() == (apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}) {
				return s.Definition
			}
		}
		return nil
	}
}
