package defaultbindings

import (
	"slices"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/tenancy"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// OfType returns the exports that a workspace of a type binds by default, in the order in
// which its aliases name them, each once.
func OfType(set *tenancy.Set, consumer logicalcluster.Name) []Wanted {
	var all []Wanted
	for _, alias := range set.Aliases {
		for _, reference := range alias.Object.Spec.DefaultAPIBindings {
			path := reference.Path
			if path == "" {
				path = alias.Cluster.String()
			}
			wanted := Wanted{
				Binding: apihash.BindingName(consumer, path, reference.Export),
				Path:    path,
				Export:  reference.Export,
			}
			if !slices.Contains(all, wanted) {
				all = append(all, wanted)
			}
		}
	}
	return all
}
