package binding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Ending is what DecideEnd decides on.
type Ending struct {
	// Binding is an APIBinding that is being deleted. It is not changed.
	Binding *apisv1alpha2.APIBinding
	// Remaining are the instances of its resources after all have been asked to go.
	Remaining map[apischema.GroupResource]Remaining
	// Err is why instances could not be deleted.
	Err error
	// Now is the time of conditions that change.
	Now metav1.Time
}

// Remaining are the instances of a resource that are left.
type Remaining struct {
	Instances int
	// Finalizers says, by finalizer, how many instances wait for it.
	Finalizers map[string]int
}

// DecideEnd returns what an APIBinding that is being deleted has to be, and whether
// nothing keeps it any more.
func DecideEnd(in Ending) (wanted *apisv1alpha2.APIBinding, done bool) {
	d := &decision{Input: Input{Now: in.Now}, wanted: in.Binding.DeepCopy()}
	waits := func(reason, message string) {
		d.isFalse(apisv1alpha1.BindingResourceDeleteSuccess, reason, conditions.SeverityError, "%s", message)
	}
	finalizers, instances := map[string]int{}, map[string]int{}
	for resource, left := range in.Remaining {
		if left.Instances > 0 {
			instances[resource.String()] = left.Instances
		}
		for finalizer, n := range left.Finalizers {
			finalizers[finalizer] += n
		}
	}
	switch {
	case in.Err != nil:
		waits(apisv1alpha1.ReasonResourceDeletionFailed, in.Err.Error())
	case len(finalizers) > 0:
		waits(apisv1alpha1.ReasonSomeFinalizersRemain, "Some content in the workspace has finalizers remaining: "+
			counted(finalizers, "%s in %d resource instances"))
	case len(instances) > 0:
		waits(apisv1alpha1.ReasonSomeResourcesRemain, "Some resources are remaining: "+
			counted(instances, "%s has %d resource instances"))
	default:
		done = true
		d.isTrue(apisv1alpha1.BindingResourceDeleteSuccess)
	}
	if equality.Semantic.DeepEqual(in.Binding, d.wanted) {
		return in.Binding, done
	}
	return d.wanted, done
}

func counted(counts map[string]int, format string) string {
	lines := make([]string, 0, len(counts))
	for _, name := range slices.SortedFunc(maps.Keys(counts), cmp.Compare[string]) {
		lines = append(lines, fmt.Sprintf(format, name, counts[name]))
	}
	return joined(lines)
}

// Inherits says whether candidate takes over the objects of what another binding of the
// workspace, which is being deleted, has bound: it wants the same resource under the same
// identity, which says whose objects they are. The schema may be another one, as that of an
// export that has moved is. export is what candidate refers to, nil if there is no such
// export.
func Inherits(candidate *apisv1alpha2.APIBinding, export *Export, bound apisv1alpha2.BoundAPIResource) bool {
	if !candidate.DeletionTimestamp.IsZero() || export == nil || export.Object.Status.IdentityHash != bound.Schema.IdentityHash {
		return false
	}
	return slices.ContainsFunc(export.Offers, func(o Offer) bool {
		return o.Resource == resourceOf(bound) && o.Definition != nil && !o.Virtual && !o.Reserved
	})
}

// Inherit returns a binding to an export of a cluster with what it takes over, by the schema
// that it was bound with: the next decision about the heir brings its own.
func Inherit(heir *apisv1alpha2.APIBinding, cluster logicalcluster.Name, bound apisv1alpha2.BoundAPIResource) *apisv1alpha2.APIBinding {
	heir = heir.DeepCopy()
	heir.Status.APIExportClusterName = cluster.String()
	if i := find(heir.Status.BoundResources, resourceOf(bound)); i >= 0 {
		heir.Status.BoundResources[i] = *bound.DeepCopy()
		return heir
	}
	heir.Status.BoundResources = append(heir.Status.BoundResources, *bound.DeepCopy())
	return heir
}
