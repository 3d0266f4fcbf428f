package tree

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// maxRequests is how many requests are made at a time.
	maxRequests = 8

	unknownPhase = "Unknown"
)

// lister is what gathering needs of a server.
type lister interface {
	Workspaces(ctx context.Context, parent logicalcluster.Path) ([]tenancyv1alpha1.Workspace, error)
	LogicalCluster(ctx context.Context, p logicalcluster.Path) (*corev1alpha1.LogicalCluster, error)
}

// node is a workspace in the tree.
type node struct {
	name   string
	path   logicalcluster.Path
	parent *node

	mount     bool
	forbidden bool
	err       error
	// phase is that of the Workspace, "-" if there is none to look at. clusterPhase is
	// that of the logical cluster, "" if it was not asked for.
	phase, clusterPhase string

	children []*node
}

// gatherer makes the requests for a tree. It is used once.
type gatherer struct {
	server lister
	phases bool

	slots   chan struct{}
	running sync.WaitGroup
}

// gather returns the tree below start. phases asks for the phases of the logical
// clusters, too. What may not be read below start is marked at its node; the error is
// about start itself.
func gather(ctx context.Context, server lister, start logicalcluster.Path, phases bool) (*node, error) {
	g := &gatherer{server: server, phases: phases, slots: make(chan struct{}, maxRequests)}
	top := &node{name: start.Base(), path: start, phase: "-"}
	g.expand(ctx, top)
	g.running.Wait()
	return top, top.err
}

// expand finds out about n and, meanwhile, about what is below it.
func (g *gatherer) expand(ctx context.Context, n *node) {
	if g.phases {
		g.running.Go(func() { g.look(ctx, n) })
	}
	g.running.Go(func() {
		var items []tenancyv1alpha1.Workspace
		g.request(func() { items, n.err = g.server.Workspaces(ctx, n.path) })
		switch {
		case apierrors.IsNotFound(n.err):
			// Workspaces of some types have no workspaces API, and so no children.
			n.err = nil
		case apierrors.IsForbidden(n.err) && n.parent != nil:
			n.forbidden, n.err = true, nil
		}
		for i := range items {
			if items[i].DeletionTimestamp == nil {
				g.add(ctx, n, &items[i])
			}
		}
	})
}

// add puts ws below n and goes on from there.
func (g *gatherer) add(ctx context.Context, n *node, ws *tenancyv1alpha1.Workspace) {
	child := &node{name: ws.Name, path: n.path.Join(ws.Name), parent: n, phase: cmp.Or(string(ws.Status.Phase), "-")}
	n.children = append(n.children, child)
	if ws.Spec.Mount != nil {
		child.mount = true
		return
	}
	if g.phases {
		child.clusterPhase = unknownPhase
	}
	if ws.Spec.URL == "" {
		// It has not got its place yet, so there is nothing in it.
		return
	}
	_, p, ok := path.SplitURL(ws.Spec.URL)
	switch {
	case !ok:
		child.err = fmt.Errorf("the URL %q is no workspace URL", ws.Spec.URL)
	case n.isBelow(p):
		child.err = fmt.Errorf("the URL %q leads back up", ws.Spec.URL)
	default:
		child.path = p
		g.expand(ctx, child)
	}
}

// isBelow says whether n is p or somewhere below it.
func (n *node) isBelow(p logicalcluster.Path) bool {
	for ; n != nil; n = n.parent {
		if n.path == p {
			return true
		}
	}
	return false
}

// look reads the phase of the logical cluster of n.
func (g *gatherer) look(ctx context.Context, n *node) {
	var (
		lc  *corev1alpha1.LogicalCluster
		err error
	)
	g.request(func() { lc, err = g.server.LogicalCluster(ctx, n.path) })
	n.clusterPhase = unknownPhase
	if err == nil {
		n.clusterPhase = cmp.Or(string(lc.Status.Phase), unknownPhase)
	}
}

// request runs f when there is a slot for it.
func (g *gatherer) request(f func()) {
	g.slots <- struct{}{}
	defer func() { <-g.slots }()
	f()
}
