package permissionclaims

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Guard is what a provider may do with a claimed resource of one workspace. A request that
// carries one finds objects that the provider may not see not to be there: storage hides
// them from gets, updates and deletions, as part of the write, and admission keeps those
// that he writes within what he may see. It is immutable.
//
// Requests for many objects are not restricted by it: they need Requirements.
type Guard struct {
	resource schema.GroupResource
	key      string
	values   []string

	selector    labels.Selector
	matchLabels map[string]string
	verbs       func(verb string) bool
	// own is the label of the export's own bindings, which it may see without a claim;
	// empty if the claim is not for bindings.
	own string
}

// NewGuard returns what the answer to a claim of an export allows. An answer that is not
// an acceptance is not for this function.
func NewGuard(exportCluster logicalcluster.Name, export string, claim apisv1alpha2.PermissionClaim, answer apisv1alpha2.AcceptablePermissionClaim) (*Guard, error) {
	selector, err := Selector(answer.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector of the permission claim for %s: %w", NameOf(claim).GroupResource, err)
	}
	g := &Guard{
		resource:    Stored(NameOf(claim).GroupResource),
		key:         apihash.ClaimLabelKey(exportCluster, export),
		values:      []string{LabelValue(NameOf(claim))},
		selector:    selector,
		matchLabels: maps.Clone(answer.Selector.MatchLabels),
		verbs:       func(verb string) bool { return Allows(claim.Verbs, answer.Verbs, verb) },
	}
	if g.resource == apisv1alpha2.Resource("apibindings") {
		g.own = apihash.Export(exportCluster, export)
		g.values = append(g.values, apihash.Reflexive)
	}
	return g, nil
}

// Resource returns the resource that is claimed, as it is stored.
func (g *Guard) Resource() schema.GroupResource { return g.resource }

// Allows says whether the provider may do verb.
func (g *Guard) Allows(verb string) bool { return g.verbs(verb) }

// Requirements are what a verb for many objects selects by: what lists and watches show is
// what is labeled, so that watches see objects come and go with the answer. Deletions have
// no need of labels, which are not there where lists are not given.
func (g *Guard) Requirements(verb string) (labels.Requirements, error) {
	if requirements, selectable := g.selector.Requirements(); selectable && verb == "deletecollection" && g.own == "" {
		return requirements, nil
	}
	claimed, err := labels.NewRequirement(g.key, selection.In, g.values)
	if err != nil {
		return nil, err
	}
	return labels.Requirements{*claimed}, nil
}

// Sees says whether the provider may see an object with these labels.
func (g *Guard) Sees(of map[string]string) bool {
	if g.own != "" && of[apisv1alpha1.InternalAPIBindingExportLabelKey] == g.own {
		return true
	}
	return g.selector.Matches(labels.Set(of))
}

// Complete returns the labels that the selector wants and that are missing, nil if none
// are. ok is false if a label has another value than it wants: that of key, which is wanted.
func (g *Guard) Complete(of map[string]string) (missing map[string]string, key string, ok bool) {
	for _, key := range slices.Sorted(maps.Keys(g.matchLabels)) {
		value, there := of[key]
		switch {
		case !there:
			if missing == nil {
				missing = map[string]string{}
			}
			missing[key] = g.matchLabels[key]
		case value != g.matchLabels[key]:
			return nil, key, false
		}
	}
	return missing, "", true
}

// Wanted returns the value that the selector wants a label to have.
func (g *Guard) Wanted(key string) string { return g.matchLabels[key] }

type guardKey struct{}

// WithGuard returns a context whose requests are bounded by guard.
func WithGuard(ctx context.Context, guard *Guard) context.Context {
	return context.WithValue(ctx, guardKey{}, guard)
}

// GuardFrom returns the guard of a context, nil if there is none.
func GuardFrom(ctx context.Context) *Guard {
	guard, _ := ctx.Value(guardKey{}).(*Guard)
	return guard
}
