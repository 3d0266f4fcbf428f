package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/logicalcluster"
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
	source := typeref.NewSource(c)
	// Whose type is not known has the limits of its children only.
	above, err := source.Of(ctx, p)
	if err != nil {
		above = nil
	}
	var names []name
	for _, t := range source.Usable(ctx, p, above) {
		names = append(names, name{Name: t.String()})
	}
	return names, ctx.Err()
}

// hooks completes an initializer or a terminator: a type that has one, of those in the
// current workspace by its name alone, and of those above it with its path.
func (c *completer) hooks(kind hook.Kind) source {
	return func(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
		find := func(ctx context.Context, server *client.Client, p logicalcluster.Path) ([]name, error) {
			return findHooks(ctx, server, p, kind)
		}
		names, err := c.names(ctx, string(kind), q.flag("workspace"), find)
		if err != nil {
			return nil, words, err
		}
		typed, absolute := strings.CutPrefix(q.typed, ":")
		if strings.Contains(typed, ":") || absolute {
			// What is here can be written with its path as well.
			names = slices.DeleteFunc(names, func(n name) bool { return !strings.Contains(n.Name, ":") })
		} else {
			names = slices.DeleteFunc(names, func(n name) bool { return n.Description == here && strings.Contains(n.Name, ":") })
		}
		return candidates(names, q.typed[:len(q.typed)-len(typed)], typed), words, nil
	}
}

// here says of a type that it is in the workspace itself.
const here = "in this workspace"

// findHooks returns the types with such a hook that can be seen in p and above it, those in
// p by both of their names.
func findHooks(ctx context.Context, c *client.Client, p logicalcluster.Path, kind hook.Kind) ([]name, error) {
	source := typeref.NewSource(c)
	var names []name
	for _, at := range typeref.Upwards(p) {
		types, err := source.Types(ctx, at)
		if err != nil {
			continue
		}
		for _, t := range types {
			if !kind.Wanted(t.Object) {
				continue
			}
			if at != p {
				names = append(names, name{Name: t.String()})
				continue
			}
			names = append(names, name{Name: t.Object.Name, Description: here}, name{Name: t.String(), Description: here})
		}
	}
	return names, ctx.Err()
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
