package tenancy

import (
	"fmt"
	"slices"
	"strings"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Relation says which side of a placement makes a demand.
type Relation string

// The relations, as the field of a type is called that limits them.
const (
	Parents  Relation = "limitAllowedParents"
	Children Relation = "limitAllowedChildren"
)

// Refusal is a demand of one type that the other does not meet.
type Refusal struct {
	// Own is the type that demands, and Alias where it has the demand from: itself, or
	// a type it extends.
	Own, Alias Type
	// Relation is what the demand is about.
	Relation Relation
	// Selector is the demand.
	Selector *tenancyv1alpha1.WorkspaceTypeSelector
	// Other does not meet it.
	Other *Set
}

// Refusals returns what keeps a workspace of the child type from being in one of the
// parent type: nothing, or all demands that are not met. Both sides must agree, and
// each may have inherited what it demands.
func Refusals(parent, child *Set) []Refusal {
	var refusals []Refusal
	for _, alias := range child.Aliases {
		if selector := alias.Object.Spec.LimitAllowedParents; !allows(selector, parent) {
			refusals = append(refusals, Refusal{Own: child.Type, Alias: alias, Relation: Parents, Selector: selector, Other: parent})
		}
	}
	for _, alias := range parent.Aliases {
		if selector := alias.Object.Spec.LimitAllowedChildren; !allows(selector, child) {
			refusals = append(refusals, Refusal{Own: parent.Type, Alias: alias, Relation: Children, Selector: selector, Other: child})
		}
	}
	return refusals
}

// CheckPlacement says whether a workspace of the child type may be in one of the
// parent type. The error names all demands that are not met, and IsUnresolved knows it.
func CheckPlacement(parent, child *Set) error {
	var problems []string
	for _, r := range Refusals(parent, child) {
		problems = append(problems, r.String())
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

// Inherited says whether the demand is that of a type which the own one extends.
func (r Refusal) Inherited() bool { return !r.Alias.Is(r.Own) }

// Allowed returns the types that would meet the demand, sorted.
func (r Refusal) Allowed() []string {
	allowed := make([]string, 0, len(r.Selector.Types))
	for _, reference := range r.Selector.Types {
		allowed = append(allowed, TypeAnnotation(reference))
	}
	slices.Sort(allowed)
	return allowed
}

// String says what is demanded, and that it is not met.
func (r Refusal) String() string {
	demanding := fmt.Sprintf("workspace type %s", r.Own)
	if r.Inherited() {
		demanding = fmt.Sprintf("workspace type %s extends %s, which", r.Own, r.Alias)
	}
	relation := "parents"
	if r.Relation == Children {
		relation = "children"
	}
	switch {
	case r.Selector.None:
		return fmt.Sprintf("%s allows no %s, not %s either", demanding, relation, r.Other.Type)
	case len(r.Selector.Types) == 0:
		// "none: false" says as little as it can, and a limit that allows anything would be none.
		return fmt.Sprintf("%s limits its %s and names none that it allows, not %s either", demanding, relation, r.Other.Type)
	}
	return fmt.Sprintf("%s only allows %s of the types [%s], but %s implements [%s]",
		demanding, relation, strings.Join(r.Allowed(), " "), r.Other.Type, strings.Join(r.Other.Names(), " "))
}
