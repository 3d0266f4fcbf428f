package exports

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// found is an export that may be bound, and the workspace it is in.
type found struct {
	path   logicalcluster.Path
	export client.Export
}

// skipped is a workspace below the first one that could not be looked into.
type skipped struct {
	path logicalcluster.Path
	err  error
}

// searcher looks for exports. It is used once.
type searcher struct {
	client    *client.Client
	word      string
	recursive bool

	mu      sync.Mutex
	found   []found
	skipped []skipped
}

// search returns the exports in the workspace start and, if asked for, below it, by
// path and name. What is below and cannot be looked into is skipped.
func (s *searcher) search(ctx context.Context, start logicalcluster.Path) ([]found, error) {
	err := s.look(ctx, start)
	if err == nil && s.recursive {
		err = s.descend(ctx, start)
	}
	slices.SortFunc(s.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.path.String(), b.path.String()), cmp.Compare(a.export.Name, b.export.Name))
	})
	slices.SortFunc(s.skipped, func(a, b skipped) int { return cmp.Compare(a.path.String(), b.path.String()) })
	return s.found, err
}

// descend looks into all workspaces below start.
func (s *searcher) descend(ctx context.Context, start logicalcluster.Path) error {
	top, err := walk.Walk(ctx, s.client, start, walk.Options{Look: func(ctx context.Context, n *walk.Node) {
		if n.Parent == nil {
			return
		}
		if err := s.look(ctx, n.Path); err != nil && !apierrors.IsNotFound(err) {
			s.skip(n.Path, err)
		}
	}})
	if err != nil {
		return err
	}
	for _, n := range top.All() {
		if n.Err != nil {
			s.skip(n.Path, n.Err)
		}
	}
	return nil
}

// skip notes what could not be looked into, once.
func (s *searcher) skip(p logicalcluster.Path, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.skipped, func(other skipped) bool { return other.path == p }) {
		s.skipped = append(s.skipped, skipped{path: p, err: err})
	}
}

// look finds the exports in one workspace.
func (s *searcher) look(ctx context.Context, p logicalcluster.Path) error {
	apis, err := s.client.APIs(ctx, p)
	if err != nil {
		return err
	}
	exports, err := apis.Exports(ctx)
	exports = slices.DeleteFunc(exports, func(e client.Export) bool { return e.DeletionTimestamp != nil || !matches(e, s.word) })
	if err != nil || len(exports) == 0 {
		return err
	}
	// Most may bind either everything in a workspace or nothing, so that one question
	// often does for all of its exports.
	all, err := s.client.MayBind(ctx, p, "")
	for i := 0; i < len(exports) && err == nil; i++ {
		may := all
		if !all {
			may, err = s.client.MayBind(ctx, p, exports[i].Name)
		}
		if may && err == nil {
			s.add(found{path: p, export: exports[i]})
		}
	}
	return err
}

func (s *searcher) add(f found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, f)
}

// matches says whether word, in lower case, is in a name that belongs to the export.
func matches(export client.Export, word string) bool {
	names := []string{export.Name}
	for _, r := range export.Spec.Resources {
		names = append(names, r.Name+"."+r.Group)
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(name), word) })
}
