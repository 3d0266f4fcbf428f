package tree

import (
	"cmp"
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const unknownPhase = "Unknown"

// server is what growing a tree needs of a server.
type server interface {
	walk.Server
	LogicalCluster(ctx context.Context, p logicalcluster.Path) (*corev1alpha1.LogicalCluster, error)
	APIs(ctx context.Context, p logicalcluster.Path) (*client.APIs, error)
}

// more is what was asked for beyond the Workspaces.
type more struct {
	mu sync.Mutex
	// phases are those of the logical clusters.
	phases map[*walk.Node]string
	// apis are the exports and bindings.
	apis map[*walk.Node]apis
}

// apis are the exports and the bindings in a workspace.
type apis struct {
	exports  []client.Export
	bindings []client.Binding
	err      error
}

// grow walks the tree below start, and asks for what the options want to show.
func (o *Options) grow(ctx context.Context, s server, start logicalcluster.Path) (*walk.Node, *more, error) {
	m := &more{phases: map[*walk.Node]string{}, apis: map[*walk.Node]apis{}}
	options := walk.Options{Depth: o.Depth, Deleting: o.All}
	if o.Wide || o.Bindings {
		options.Look = func(ctx context.Context, n *walk.Node) {
			if o.Wide {
				m.lookAtCluster(ctx, s, n)
			}
			if o.Bindings {
				m.lookAtAPIs(ctx, s, n)
			}
		}
	}
	top, err := walk.Walk(ctx, s, start, options)
	return top, m, err
}

func (m *more) lookAtCluster(ctx context.Context, s server, n *walk.Node) {
	phase := unknownPhase
	if lc, err := s.LogicalCluster(ctx, n.Path); err == nil {
		phase = cmp.Or(string(lc.Status.Phase), unknownPhase)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases[n] = phase
}

func (m *more) lookAtAPIs(ctx context.Context, s server, n *walk.Node) {
	found := apisOf(ctx, s, n.Path)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.apis[n] = found
}

// apisOf returns the exports and bindings in p. What may not be read is left out: the
// workspaces themselves may be readable all the same.
func apisOf(ctx context.Context, s server, p logicalcluster.Path) apis {
	in, err := s.APIs(ctx, p)
	if err != nil {
		return apis{err: unlessForbidden(err)}
	}
	var found apis
	if found.exports, err = in.Exports(ctx); err != nil {
		found.err = unlessForbidden(err)
	}
	if found.bindings, err = in.Bindings(ctx); err != nil {
		found.err = unlessForbidden(err)
	}
	return found
}

func unlessForbidden(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// phase returns that of the logical cluster of n, "" if there is none to ask for.
func (m *more) phase(n *walk.Node) string {
	if phase, ok := m.phases[n]; ok || n.Mount() || n.Parent == nil {
		return phase
	}
	return unknownPhase
}
