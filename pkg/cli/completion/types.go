package completion

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// types completes the type of a workspace below the current one, or below the one that
// --workspace names: by its name, or by its path and name.
func (c *completer) types(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	names, err := c.names(ctx, "types", q.flag("workspace"), findTypes)
	if err != nil {
		return nil, words, err
	}
	found := candidates(names, "", q.typed)
	// A path may begin with a colon, and the types that are found are absolute.
	if len(q.typed) > 0 && q.typed[0] == ':' {
		found = candidates(names, ":", q.typed[1:])
	}
	return found, words, nil
}

// findTypes returns the types that may be used below p: those in p and above it, as far
// as they can be seen and as the limits of both sides go together.
func findTypes(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error) {
	parent := ""
	if cluster, err := c.LogicalCluster(ctx, p); err == nil {
		parent = cluster.Annotations[tenancyv1alpha1.TypeAnnotationKey]
	}
	var types []tenancy.Type
	top := p
	for at, ok := p, true; ok; at, ok = at.Parent() {
		types = append(types, typesIn(ctx, c, at)...)
		top = at
	}
	if root := logicalcluster.Root.Path(); top != root {
		types = append(types, typesIn(ctx, c, root)...)
	}
	var names []name
	for _, t := range usable(types, parent) {
		names = append(names, name{Name: t.String()})
	}
	return names, ctx.Err()
}

// typesIn returns the types in one workspace, none if they may not be seen.
func typesIn(ctx context.Context, c *client.Client, p logicalcluster.Path) []tenancy.Type {
	objects, err := c.WorkspaceTypes(ctx, p)
	if err != nil {
		return nil
	}
	types := make([]tenancy.Type, 0, len(objects))
	for i := range objects {
		types = append(types, tenancy.Type{Place: tenancy.Place{Path: p}, Object: &objects[i]})
	}
	return types
}

// usable returns those of types that may be used in a workspace of the type parent, as
// far as types tell: what they do not tell is for the server to refuse. parent may be
// empty, if it is not known.
func usable(types []tenancy.Type, parent string) []tenancy.Type {
	known := map[string]tenancy.Type{}
	for _, t := range types {
		known[t.String()] = t
	}
	at, knowsParent := known[parent]
	return slices.DeleteFunc(slices.Clone(types), func(t tenancy.Type) bool {
		child := extend(known, t)
		if knowsParent {
			return len(tenancy.Refusals(extend(known, at), child)) > 0
		}
		return slices.ContainsFunc(child.Aliases, func(alias tenancy.Type) bool {
			limit := alias.Object.Spec.LimitAllowedParents
			return limit != nil && limit.None
		})
	})
}

// extend returns a type with all that it extends, as far as they are known.
func extend(known map[string]tenancy.Type, t tenancy.Type) *tenancy.Set {
	set := &tenancy.Set{Type: t, Aliases: []tenancy.Type{t}}
	seen := map[string]bool{t.String(): true}
	for i := 0; i < len(set.Aliases); i++ {
		for _, with := range set.Aliases[i].Object.Spec.Extend.With {
			name := tenancy.TypeAnnotation(with)
			if base, ok := known[name]; ok && !seen[name] {
				seen[name] = true
				set.Aliases = append(set.Aliases, base)
			}
		}
	}
	return set
}

// shards completes the selector of a shard by name.
func (c *completer) shards(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	names, err := c.names(ctx, "shards", ":"+logicalcluster.Root.String(), find(corev1alpha1.GroupVersion.WithResource("shards"), "Region"))
	found := candidates(names, "name=", "")
	return slices.DeleteFunc(found, func(candidate cobra.Completion) bool { return len(withPrefix([]string{candidate}, q.typed)) == 0 }), words, err
}

// Types returns the types that may be used below p, as far as they can be seen and as far
// as types tell.
func Types(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]string, error) {
	found, err := findTypes(ctx, c, p)
	if err != nil {
		return nil, err
	}
	types := make([]string, len(found))
	for i := range found {
		types[i] = found[i].Name
	}
	return types, nil
}
