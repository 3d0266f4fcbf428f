package typeref

import (
	"context"
	"slices"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Client returns the client that s reads with.
func (s *Source) Client() *client.Client { return s.client }

// From returns a Source on the server of the finder, and the workspace that arg names, ""
// for the current one, from which types are looked for.
func From(ctx context.Context, finder *target.Finder, arg string) (*Source, tenancy.Place, error) {
	origin, err := finder.Origin()
	if err != nil {
		return nil, tenancy.Place{}, err
	}
	workspace, err := origin.Workspace(ctx, arg)
	if err != nil {
		return nil, tenancy.Place{}, err
	}
	c, err := origin.Client()
	if err != nil {
		return nil, tenancy.Place{}, err
	}
	source := NewSource(c)
	place, err := source.Place(ctx, workspace)
	return source, place, err
}

// homes is what the paths of home workspaces begin with: user:<name>. It is no workspace.
const homes = "user"

// Upwards returns where types are looked for that are named without a path in the
// workspace p: there, in those above it, and in root.
func Upwards(p logicalcluster.Path) []logicalcluster.Path {
	all := []logicalcluster.Path{p}
	for at, ok := p.Parent(); ok && at.String() != homes; at, ok = at.Parent() {
		all = append(all, at)
	}
	if root := logicalcluster.Root.Path(); !slices.Contains(all, root) {
		all = append(all, root)
	}
	return all
}

// Usable returns the types that workspaces in p may have, of those that can be named there
// without a path, as far as the caller can see them. above is the type of p, nil if it
// is not known. A type that extends what cannot be seen counts for what is seen of it: the
// rest is for the server to refuse.
func (s *Source) Usable(ctx context.Context, p logicalcluster.Path, above *tenancy.Set) []tenancy.Type {
	var usable []tenancy.Type
	seen := map[string]bool{}
	for _, at := range Upwards(p) {
		types, err := s.Types(ctx, at)
		if err != nil {
			continue
		}
		for _, t := range types {
			set, err := s.Resolver().Extend(ctx, t)
			if err != nil {
				set = &tenancy.Set{Type: t, Aliases: []tenancy.Type{t}}
			}
			if name := t.String(); !seen[name] && fits(above, set) {
				seen[name] = true
				usable = append(usable, t)
			}
		}
	}
	return usable
}

// fits says whether the limits of both sides go together.
func fits(above, below *tenancy.Set) bool {
	if above != nil {
		return len(tenancy.Refusals(above, below)) == 0
	}
	return !slices.ContainsFunc(below.Aliases, func(alias tenancy.Type) bool {
		limit := alias.Object.Spec.LimitAllowedParents
		return limit != nil && limit.None
	})
}
