package completion

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// wtype is a workspace type, and where it is.
type wtype struct {
	path logicalcluster.Path
	spec tenancyv1alpha1.WorkspaceTypeSpec
	name string
}

func (t wtype) String() string { return t.path.String() + ":" + t.name }

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
	var types []wtype
	for at, ok := p, true; ok; at, ok = at.Parent() {
		types = append(types, typesIn(ctx, c, at)...)
	}
	if top, _ := splitTop(p); top != logicalcluster.Root.Path() {
		types = append(types, typesIn(ctx, c, logicalcluster.Root.Path())...)
	}
	var names []name
	for _, t := range usable(types, parent) {
		names = append(names, name{Name: t.String()})
	}
	return names, ctx.Err()
}

// splitTop returns the topmost workspace above p.
func splitTop(p logicalcluster.Path) (top logicalcluster.Path, isTop bool) {
	for {
		parent, ok := p.Parent()
		if !ok {
			return p, true
		}
		p = parent
	}
}

// typesIn returns the types in one workspace, none if they may not be seen.
func typesIn(ctx context.Context, c *client.Client, p logicalcluster.Path) []wtype {
	objects, err := c.WorkspaceTypes(ctx, p)
	if err != nil {
		return nil
	}
	types := make([]wtype, 0, len(objects))
	for i := range objects {
		types = append(types, wtype{path: p, name: objects[i].Name, spec: objects[i].Spec})
	}
	return types
}

// usable returns those of types that may be used in a workspace of the type parent, as
// far as types tell: what they do not tell is for the server to refuse.
func usable(types []wtype, parent string) []wtype {
	known := map[string]wtype{}
	for _, t := range types {
		known[t.String()] = t
	}
	parents := aliases(known, parent)
	return slices.DeleteFunc(slices.Clone(types), func(t wtype) bool {
		children := aliases(known, t.String())
		for _, alias := range children {
			if !allows(known[alias].spec.LimitAllowedParents, parents) {
				return true
			}
		}
		for _, alias := range parents {
			if own, ok := known[alias]; ok && !allows(own.spec.LimitAllowedChildren, children) {
				return true
			}
		}
		return false
	})
}

// aliases returns a type and all that it extends.
func aliases(known map[string]wtype, of string) []string {
	if of == "" {
		return nil
	}
	found := []string{of}
	for i := 0; i < len(found); i++ {
		t := known[found[i]]
		for _, with := range t.spec.Extend.With {
			if alias := with.Path + ":" + with.Name; !slices.Contains(found, alias) {
				found = append(found, alias)
			}
		}
	}
	return found
}

// allows says whether a limit picks one of types. A type that is not known is none that
// a limit refuses.
func allows(limit *tenancyv1alpha1.WorkspaceTypeSelector, types []string) bool {
	switch {
	case limit == nil:
		return true
	case limit.None:
		return false
	case len(types) == 0:
		return true
	}
	return slices.ContainsFunc(limit.Types, func(t tenancyv1alpha1.WorkspaceTypeReference) bool {
		return slices.Contains(types, t.Path+":"+t.Name)
	})
}

// shards completes the selector of a shard by name.
func (c *completer) shards(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	names, err := c.names(ctx, "shards", ":"+logicalcluster.Root.String(), find(corev1alpha1.GroupVersion.WithResource("shards"), "Region"))
	found := candidates(names, "name=", "")
	return slices.DeleteFunc(found, func(candidate cobra.Completion) bool { return len(withPrefix([]string{candidate}, q.typed)) == 0 }), words, err
}
