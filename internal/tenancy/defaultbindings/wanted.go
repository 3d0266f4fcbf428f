package defaultbindings

import (
	"slices"

	"github.com/forkless/kcp/internal/apihash"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// OfType returns the exports that a workspace of a type binds by default, in the order in
// which its aliases name them, each once.
func OfType(set *tenancy.Set, consumer logicalcluster.Name) []Wanted {
	return of(set.Aliases, consumer)
}

// MaintainedOf returns those of OfType that are looked after as long as the workspace
// lives. Each type decides that for what it names itself, not for what it extends.
func MaintainedOf(set *tenancy.Set, consumer logicalcluster.Name) []Wanted {
	var maintaining []tenancy.Type
	for _, alias := range set.Aliases {
		if Maintains(alias.Object) {
			maintaining = append(maintaining, alias)
		}
	}
	return of(maintaining, consumer)
}

// Maintains says whether a type looks after its default bindings in workspaces that live.
func Maintains(t *tenancyv1alpha1.WorkspaceType) bool {
	lifecycle := t.Spec.DefaultAPIBindingLifecycle
	return lifecycle != nil && *lifecycle == tenancyv1alpha1.APIBindingLifecycleMaintain
}

func of(aliases []tenancy.Type, consumer logicalcluster.Name) []Wanted {
	var all []Wanted
	for _, alias := range aliases {
		for _, reference := range alias.Object.Spec.DefaultAPIBindings {
			path := reference.Path
			if path == "" {
				path = alias.Cluster.String()
			}
			wanted := Wanted{
				Binding: apihash.BindingName(consumer, path, reference.Export),
				Path:    path,
				Export:  reference.Export,
				Type:    alias.String(),
			}
			known := func(w Wanted) bool { return w.Path == wanted.Path && w.Export == wanted.Export }
			if !slices.ContainsFunc(all, known) {
				all = append(all, wanted)
			}
		}
	}
	return all
}
