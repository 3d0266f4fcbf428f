package tenancy

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Extend returns t with all the types it extends.
func (r *Resolver) Extend(ctx context.Context, t Type) (*Set, error) {
	w := walk{resolver: r, seen: map[typeKey]struct{}{}}
	if err := w.visit(ctx, t); err != nil {
		return nil, err
	}
	return &Set{Type: t, Bases: w.bases, Aliases: append(w.found, t)}, nil
}

// walk collects the bases of a type, depth first.
type walk struct {
	resolver *Resolver
	// bases are those that the type itself names.
	bases []Type
	// found are the bases in order.
	found []Type
	// seen are the types in found.
	seen map[typeKey]struct{}
	// way leads from the type the walk began with to the one being visited.
	way []Type
}

// visit adds the bases of t, and theirs.
func (w *walk) visit(ctx context.Context, t Type) error {
	w.way = append(w.way, t)
	defer func() { w.way = w.way[:len(w.way)-1] }()

	for _, reference := range t.Object.Spec.Extend.With {
		base, err := w.resolver.Find(ctx, t.Place, reference)
		if err != nil {
			return fmt.Errorf("workspace type %s extends %q: %w", t, reference.Name, err)
		}
		if err := w.checkCycle(base); err != nil {
			return err
		}
		if len(w.way) == 1 {
			w.bases = append(w.bases, base)
		}
		if _, seen := w.seen[base.key()]; seen {
			continue
		}
		w.seen[base.key()] = struct{}{}
		w.found = append(w.found, base)
		if err := w.visit(ctx, base); err != nil {
			return err
		}
	}
	return nil
}

// checkCycle refuses a base that is on the way to itself.
func (w *walk) checkCycle(base Type) error {
	start := slices.IndexFunc(w.way, func(t Type) bool { return t.key() == base.key() })
	if start < 0 {
		return nil
	}
	var cycle strings.Builder
	for _, t := range w.way[start:] {
		cycle.WriteString(t.String() + " -> ")
	}
	return unresolved("workspace types extend each other in a circle: %s%s", cycle.String(), base)
}
