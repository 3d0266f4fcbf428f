package exports

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// maxRequests is how many requests are made at a time.
const maxRequests = 8

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

	slots   chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	found   []found
	skipped []skipped
	visited map[logicalcluster.Path]bool
}

// search returns the exports in the workspace start and, if asked for, below it, by
// path and name. What is below and cannot be looked into is skipped.
func (s *searcher) search(ctx context.Context, start logicalcluster.Path) ([]found, error) {
	s.visited = map[logicalcluster.Path]bool{start: true}
	err := s.look(ctx, start)
	if err == nil && s.recursive {
		err = s.descend(ctx, start)
	}
	s.running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortFunc(s.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.path.String(), b.path.String()), cmp.Compare(a.export.Name, b.export.Name))
	})
	slices.SortFunc(s.skipped, func(a, b skipped) int { return cmp.Compare(a.path.String(), b.path.String()) })
	return s.found, err
}

// visit looks into a workspace and what is below it, in the background.
func (s *searcher) visit(ctx context.Context, p logicalcluster.Path) {
	s.running.Go(func() {
		err := s.look(ctx, p)
		if err == nil {
			err = s.descend(ctx, p)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.skipped = append(s.skipped, skipped{path: p, err: err})
		}
	})
}

// descend visits the workspaces below p.
func (s *searcher) descend(ctx context.Context, p logicalcluster.Path) error {
	var (
		children []tenancyv1alpha1.Workspace
		err      error
	)
	s.request(func() { children, err = s.client.Workspaces(ctx, p) })
	if apierrors.IsNotFound(err) {
		// Workspaces of some types have no workspaces API, and so no children.
		return nil
	}
	for i := range children {
		if _, child, ok := path.SplitURL(children[i].Spec.URL); ok && children[i].Spec.Mount == nil && s.isNew(child) {
			s.visit(ctx, child)
		}
	}
	return err
}

// isNew says whether p has not been visited: URLs may lead in a circle.
func (s *searcher) isNew(p logicalcluster.Path) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew := !s.visited[p]
	s.visited[p] = true
	return isNew
}

// look finds the exports in one workspace.
func (s *searcher) look(ctx context.Context, p logicalcluster.Path) error {
	var (
		exports []client.Export
		all     bool
		err     error
	)
	s.request(func() {
		var apis *client.APIs
		if apis, err = s.client.APIs(ctx, p); err == nil {
			exports, err = apis.Exports(ctx)
		}
	})
	exports = slices.DeleteFunc(exports, func(e client.Export) bool { return e.DeletionTimestamp != nil || !matches(e, s.word) })
	if err != nil || len(exports) == 0 {
		return err
	}
	// Most may bind either everything in a workspace or nothing, so that one question
	// often does for all of its exports.
	s.request(func() { all, err = s.client.MayBind(ctx, p, "") })
	for i := 0; i < len(exports) && err == nil; i++ {
		may := all
		if !all {
			s.request(func() { may, err = s.client.MayBind(ctx, p, exports[i].Name) })
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

// request runs f when there is a slot for it.
func (s *searcher) request(f func()) {
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	f()
}

// matches says whether word, in lower case, is in a name that belongs to the export.
func matches(export client.Export, word string) bool {
	names := []string{export.Name}
	for _, r := range export.Spec.Resources {
		names = append(names, r.Name+"."+r.Group)
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(name), word) })
}
