package binding

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// resources binds what can be bound of the offers.
func (d *decision) resources() {
	d.wanted.Status.ExportPermissionClaims = d.Export.Object.DeepCopy().Spec.PermissionClaims
	if d.ClusterGone {
		return
	}
	rivals := d.rivals()
	for _, offer := range d.Export.Offers {
		switch {
		case offer.Virtual:
			d.unsupported = append(d.unsupported, fmt.Sprintf("%s has virtual storage, which this server does not serve", offer.Resource))
			continue
		case offer.Definition == nil:
			d.broken = append(d.broken, fmt.Sprintf("APIResourceSchema %q: %v", offer.Schema, offer.Err))
			continue
		case offer.Reserved:
			d.clashes = append(d.clashes, fmt.Sprintf("naming conflict with the system API %s, which is reserved: spec.names.plural=%s is forbidden",
				offer.Resource, offer.Resource.Resource))
			continue
		}
		if !settled(d.Input, offer) {
			d.claims = true
			if !d.free(offer, rivals) {
				continue
			}
		}
		d.bind(offer)
		rivals = append(rivals, Rival{
			Resource: offer.Resource,
			Names:    offer.Definition.CRD.Status.AcceptedNames,
			By:       fmt.Sprintf("resource %s of the same APIExport", offer.Resource),
			own:      true,
		})
	}
}

// rivals returns the others, and what the binding has that is not offered any more, or is
// not looked at again.
func (d *decision) rivals() []Rival {
	rivals := slices.Clone(d.Rivals)
	for _, bound := range d.Binding.Status.BoundResources {
		resource := resourceOf(bound)
		definition := d.Bound[resource]
		if definition == nil || slices.ContainsFunc(d.Export.Offers, func(o Offer) bool { return o.Resource == resource }) {
			continue
		}
		rivals = append(rivals, Rival{
			Resource: resource,
			Names:    definition.CRD.Status.AcceptedNames,
			By:       fmt.Sprintf("resource %s, which the APIExport offered before", resource),
			own:      true,
		})
	}
	return rivals
}

// free says whether nobody has the resource of an offer, or its names.
func (d *decision) free(offer Offer, rivals []Rival) bool {
	names := &offer.Definition.CRD.Status.AcceptedNames
	for i := range rivals {
		rival := &rivals[i]
		switch name := rival.clash(offer.Resource.Group, names); {
		case rival.Resource == offer.Resource && rival.Lock != (Lock{}):
			d.taken = append(d.taken, fmt.Sprintf("%s by %s", offer.Resource, rival.By))
			return false
		case name != "":
			d.clashes = append(d.clashes, fmt.Sprintf("naming conflict with %s: %s is forbidden", rival.By, name))
			return false
		}
	}
	return true
}

// bind notes that the resource of an offer is bound.
func (d *decision) bind(offer Offer) {
	identity := d.Export.Object.Status.IdentityHash
	bound := apisv1alpha2.BoundAPIResource{
		Group:    offer.Resource.Group,
		Resource: offer.Resource.Resource,
		Schema: apisv1alpha2.BoundAPIResourceSchema{
			Name:         offer.Schema,
			UID:          string(offer.UID),
			IdentityHash: identity,
		},
	}
	all := d.wanted.Status.BoundResources
	i := find(all, offer.Resource)
	if i >= 0 && all[i].Schema.IdentityHash == identity {
		bound.StorageVersions = slices.Clone(all[i].StorageVersions)
	}
	if version, ok := offer.Definition.StorageVersion(); ok && !slices.Contains(bound.StorageVersions, version) {
		bound.StorageVersions = append(bound.StorageVersions, version)
		slices.Sort(bound.StorageVersions)
	}
	if i < 0 {
		d.wanted.Status.BoundResources = append(all, bound)
		return
	}
	all[i] = bound
}

// locks returns what the LogicalCluster has to say.
func (d *decision) locks() Locks {
	locks := Locks{}
	for i := range d.Rivals {
		if rival := &d.Rivals[i]; rival.Lock != (Lock{}) {
			locks[LockKey(rival.Resource)] = rival.Lock
		}
	}
	for _, bound := range d.wanted.Status.BoundResources {
		locks[LockKey(resourceOf(bound))] = Lock{Binding: d.Binding.Name}
	}
	return locks
}

func resourceOf(bound apisv1alpha2.BoundAPIResource) apischema.GroupResource {
	return apischema.GroupResource{Group: bound.Group, Resource: bound.Resource}
}

func find(all []apisv1alpha2.BoundAPIResource, resource apischema.GroupResource) int {
	return slices.IndexFunc(all, func(b apisv1alpha2.BoundAPIResource) bool { return resourceOf(b) == resource })
}

// maxNamed is how many obstacles a condition names.
const maxNamed = 10

func joined(lines []string) string {
	slices.Sort(lines)
	more := ""
	if len(lines) > maxNamed {
		more = fmt.Sprintf(", and %d more", len(lines)-maxNamed)
		lines = lines[:maxNamed]
	}
	return strings.Join(lines, ", ") + more
}
