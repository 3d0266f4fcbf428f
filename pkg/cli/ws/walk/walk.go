// Package walk finds all workspaces below one. What cannot be read is marked at its
// node, and the walk goes on elsewhere.
//
// It asks for the children of one workspace after the other, those near the start first,
// some at a time. A tree that turns out to be big is asked for as a whole, if the server
// lets the caller do so: one list instead of thousands.
//
// Children are in the order of the server. Mounted workspaces, those that have no place
// yet and those whose URL leads back up are not walked into.
package walk

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// requests is how many requests are made at a time.
const requests = 8

// Server is what a walk needs of a server, *client.Client for one.
type Server interface {
	// Workspaces returns the workspaces in one. "Not found" means that there are none.
	Workspaces(ctx context.Context, parent logicalcluster.Path) ([]tenancyv1alpha1.Workspace, error)
	// AllWorkspaces returns all workspaces by the name of the logical cluster that they
	// are in, in the same order as Workspaces does. An error means that the server does not
	// let the caller ask, or does not know them all.
	AllWorkspaces(ctx context.Context) (map[string][]tenancyv1alpha1.Workspace, error)
	// Explain returns an error of Workspaces, or the one that says that there is no such
	// workspace, if that is what it means.
	Explain(ctx context.Context, p logicalcluster.Path, err error) error
}

// Options say how far to go.
type Options struct {
	// Depth is how far below the start to go; 0 has no limit. The children of what is
	// there are counted.
	Depth int
	// Limit ends the walk after that many workspaces below the start; 0 is no limit.
	Limit int
	// Deleting finds workspaces that are being deleted, too.
	Deleting bool
	// Found, if it is set, is called for the start and for each workspace, one at a time
	// and parents before children, as soon as it is found.
	Found func(*Node)
	// Look, if it is set, is called for each workspace that is walked into, several at a
	// time, to ask for more. It keeps what it learns itself.
	Look func(context.Context, *Node)
}

// Walk returns the tree below start. The error is about start itself, or that of ctx.
func Walk(ctx context.Context, server Server, start logicalcluster.Path, options Options) (*Node, error) {
	w := &walker{server: server, options: options}
	w.changed = sync.NewCond(&w.mu)
	top := &Node{Name: start.Base(), Path: start}
	if name, ok := start.Name(); ok {
		top.Cluster = name.String()
	}
	w.mu.Lock()
	w.found(top)
	w.mu.Unlock()

	var workers sync.WaitGroup
	for range requests {
		workers.Go(func() { w.work(ctx) })
	}
	workers.Wait()
	if ctx.Err() != nil {
		// A tree full of marks would look as if the server had failed.
		return top, context.Cause(ctx)
	}
	return top, top.Err
}

// walker is a walk. It is used once.
type walker struct {
	server  Server
	options Options

	mu sync.Mutex
	// changed tells the workers that there is more to do, or that the walk is over.
	changed *sync.Cond
	// queue is whose children are to be asked for, in this order.
	queue []*Node
	// busy is how many workers are at a node, seen how many workspaces were found.
	busy, seen int
	full       bool
	whole      whole
}

// work asks for children until there is nobody left to ask for.
func (w *walker) work(ctx context.Context) {
	for {
		n, ok := w.take(ctx)
		if !ok {
			return
		}
		items, err := w.children(ctx, n)
		if w.options.Look != nil {
			w.options.Look(ctx, n)
		}
		w.put(n, items, err)
	}
}

// take returns the next node, or that there will be none any more.
func (w *walker) take(ctx context.Context) (*Node, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && w.busy > 0 {
		w.changed.Wait()
	}
	if len(w.queue) == 0 || ctx.Err() != nil {
		w.queue = nil
		return nil, false
	}
	n := w.queue[0]
	w.queue = w.queue[1:]
	w.busy++
	return n, true
}

// put notes what was found out about n.
func (w *walker) put(n *Node, items []tenancyv1alpha1.Workspace, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	defer w.changed.Broadcast()
	switch {
	case apierrors.IsNotFound(err):
		// Workspaces of some types have no workspaces API, and so no children.
	case apierrors.IsForbidden(err):
		n.Forbidden = true
		if n.Parent == nil {
			n.Err = err
		}
	default:
		n.Err = err
	}
	for i := range items {
		if items[i].DeletionTimestamp != nil && !w.options.Deleting {
			continue
		}
		if w.options.Depth > 0 && n.Depth >= w.options.Depth {
			n.Hidden++
			continue
		}
		if w.options.Limit > 0 && w.seen >= w.options.Limit {
			w.queue, w.full = nil, true
			return
		}
		w.seen++
		w.add(n, &items[i])
	}
}

// add puts ws below n.
func (w *walker) add(n *Node, ws *tenancyv1alpha1.Workspace) {
	child := Child(n, ws)
	n.Children = append(n.Children, child)
	if child.Err != nil || child.Mount() || ws.Spec.URL == "" {
		// What has no URL has not got its place yet, so there is nothing in it.
		w.tell(child)
		return
	}
	w.found(child)
}

// Child returns the node of ws, which is in n. It is not among the children of n yet.
func Child(n *Node, ws *tenancyv1alpha1.Workspace) *Node {
	child := &Node{
		Name: ws.Name, Path: n.Path.Join(ws.Name), Cluster: ws.Spec.Cluster,
		Workspace: ws, Parent: n, Depth: n.Depth + 1,
	}
	if child.Mount() || ws.Spec.URL == "" {
		return child
	}
	_, p, ok := path.SplitURL(ws.Spec.URL)
	switch {
	case !ok:
		child.Err = fmt.Errorf("the URL %q is no workspace URL", ws.Spec.URL)
	case n.isBelow(p):
		child.Err = fmt.Errorf("the URL %q leads back up", ws.Spec.URL)
	default:
		child.Path = p
	}
	return child
}

// found goes on from n.
func (w *walker) found(n *Node) {
	w.tell(n)
	if !w.full {
		w.queue = append(w.queue, n)
		w.changed.Signal()
	}
}

func (w *walker) tell(n *Node) {
	if w.options.Found != nil {
		w.options.Found(n)
	}
}
