package tree

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// gatherer finds the types to be drawn.
type gatherer struct {
	source *typeref.Source
	// skip is told of what could not be read.
	skip func(err error)
}

// gather returns the types that can be named without a path in the workspace p, which
// are those in it, above it and in root, with all that they extend.
func (g gatherer) gather(ctx context.Context, p logicalcluster.Path) ([]*tenancy.Set, error) {
	var sets []*tenancy.Set
	for i, where := range typeref.Upwards(p) {
		types, err := g.source.Types(ctx, where)
		switch {
		case apierrors.IsForbidden(err) && i > 0:
			g.skip(err)
			continue
		case err != nil:
			return nil, err
		}
		for _, t := range types {
			extended, err := g.extend(ctx, t)
			if err != nil {
				return nil, err
			}
			sets = append(sets, extended...)
		}
	}
	return sets, nil
}

// extend returns the set of t and those of the types it extends. A type that extends what
// is not there, or may not be read, stands for itself alone.
func (g gatherer) extend(ctx context.Context, t tenancy.Type) ([]*tenancy.Set, error) {
	resolver := g.source.Resolver()
	set, err := resolver.Extend(ctx, t)
	if tenancy.IsUnresolved(err) || apierrors.IsForbidden(err) {
		g.skip(fmt.Errorf("%s: %w", t, err))
		return []*tenancy.Set{{Type: t, Aliases: []tenancy.Type{t}}}, nil
	}
	if err != nil {
		return nil, err
	}
	sets := []*tenancy.Set{set}
	for _, alias := range set.Aliases[:len(set.Aliases)-1] {
		base, err := resolver.Extend(ctx, alias)
		if err != nil {
			return nil, err
		}
		sets = append(sets, base)
	}
	return sets, nil
}
