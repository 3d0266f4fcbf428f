package can

import (
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/tenancy"
)

// question is whether a workspace of a type may be created in a workspace.
type question struct {
	// under is the workspace, parent its type, child the type of the new one.
	under         string
	parent, child *tenancy.Set
	// mayCreate says whether the caller may create workspaces there; lacking are the types
	// that the caller may not use.
	mayCreate bool
	lacking   []tenancy.Type
}

// verdict answers the question. It performs no I/O.
func (q question) verdict() verdict {
	v := verdict{
		subject: q.child.Type.String(), under: q.under,
		yes: fmt.Sprintf("you may create workspaces of type %s in %s (%s)", q.child.Type, q.under, q.parent.Type),
	}
	if !q.mayCreate {
		v.reasons = append(v.reasons, reason{ruleCreate, fmt.Sprintf("you may not create workspaces in %s (verb create on workspaces)", q.under)})
	}
	for _, t := range q.lacking {
		what := fmt.Sprintf("you may not use %s", t)
		if !t.Is(q.child.Type) {
			what += fmt.Sprintf(", which %s extends", q.child.Type)
		}
		v.reasons = append(v.reasons, reason{ruleUse, fmt.Sprintf("%s (verb use on workspacetypes/%s in %s)", what, t.Object.Name, t.Path)})
	}
	for _, r := range tenancy.Refusals(q.parent, q.child) {
		v.reasons = append(v.reasons, reason{rulePlace, q.explain(r)})
	}
	return v
}

// explain says which demand is not met.
func (q question) explain(r tenancy.Refusal) string {
	rule := string(r.Relation)
	allowed := strings.Join(r.Allowed(), ", ")
	if r.Selector.None {
		rule += ".none"
	} else {
		rule += ".types"
	}
	if r.Inherited() {
		rule += " of " + r.Alias.String()
	}
	none := r.Selector.None || allowed == ""
	switch {
	case r.Relation == tenancy.Children && none:
		return fmt.Sprintf("%s is of type %s, which allows no children (%s)", q.under, r.Own, rule)
	case r.Relation == tenancy.Children:
		return fmt.Sprintf("%s is of type %s, which only allows children of type %s (%s)", q.under, r.Own, allowed, rule)
	case none:
		return fmt.Sprintf("%s allows no parents (%s)", r.Own, rule)
	default:
		return fmt.Sprintf("%s only goes below workspaces of type %s, and %s is of type %s (%s)", r.Own, allowed, q.under, r.Other.Type, rule)
	}
}
