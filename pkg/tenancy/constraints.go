package tenancy

import (
	"fmt"
	"slices"
	"strings"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// CheckPlacement says whether a workspace of the child type may be in one of the
// parent type. Both sides must agree, and each may have inherited what it demands.
// The error names all demands that are not met, and IsUnresolved knows it.
func CheckPlacement(parent, child *Set) error {
	var problems []string
	for _, alias := range child.Aliases {
		if selector := alias.Object.Spec.LimitAllowedParents; !allows(selector, parent) {
			problems = append(problems, refusal(child.Type, alias, "parents", selector, parent))
		}
	}
	for _, alias := range parent.Aliases {
		if selector := alias.Object.Spec.LimitAllowedChildren; !allows(selector, child) {
			problems = append(problems, refusal(parent.Type, alias, "children", selector, child))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return unresolved("%s", strings.Join(problems, "; "))
}

// allows says whether one of the aliases of set is picked by selector.
func allows(selector *tenancyv1alpha1.WorkspaceTypeSelector, set *Set) bool {
	switch {
	case selector == nil:
		return true
	case selector.None:
		return false
	}
	return slices.ContainsFunc(set.Aliases, func(alias Type) bool {
		return slices.ContainsFunc(selector.Types, func(reference tenancyv1alpha1.WorkspaceTypeReference) bool {
			return TypeAnnotation(reference) == alias.String()
		})
	})
}

// refusal says why own, which got selector from alias, cannot go with other.
func refusal(own, alias Type, relation string, selector *tenancyv1alpha1.WorkspaceTypeSelector, other *Set) string {
	demanding := fmt.Sprintf("workspace type %s", own)
	if alias.key() != own.key() {
		demanding = fmt.Sprintf("workspace type %s extends %s, which", own, alias)
	}
	switch {
	case selector.None:
		return fmt.Sprintf("%s allows no %s, not %s either", demanding, relation, other.Type)
	case len(selector.Types) == 0:
		// "none: false" says as little as it can, and a limit that allows anything would be none.
		return fmt.Sprintf("%s limits its %s and names none that it allows, not %s either", demanding, relation, other.Type)
	}
	allowed := make([]string, 0, len(selector.Types))
	for _, reference := range selector.Types {
		allowed = append(allowed, TypeAnnotation(reference))
	}
	slices.Sort(allowed)
	return fmt.Sprintf("%s only allows %s of the types [%s], but %s implements [%s]",
		demanding, relation, strings.Join(allowed, " "), other.Type, strings.Join(other.Names(), " "))
}
