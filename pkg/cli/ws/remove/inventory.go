package remove

import (
	"context"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// requests is how many requests are made at a time.
	requests = 8
	// mostCounted is in how many workspaces objects are counted: more take too long for
	// somebody who waits for a question.
	mostCounted = 20
)

// inventory is what goes with a workspace.
type inventory struct {
	path      logicalcluster.Path
	workspace *tenancyv1alpha1.Workspace
	// below are the workspaces below it, by what leads there from it. hidden says that
	// there may be more.
	below  []string
	hidden bool
	// clusters are the logical clusters of all of them, by path and by identifier.
	clusters map[string]bool

	exports       []export
	hiddenExports bool

	// objects is how many objects there are, in how many resources; hiddenResources is how
	// many resources could not be counted, and uncounted says that not all workspaces were
	// looked at.
	objects, resources, hiddenResources int
	uncounted                           bool
}

// export is an API that goes.
type export struct {
	name string
	// consumers is how many workspaces have bound it, if that is known.
	consumers int
	known     bool
}

// counter makes the requests for an inventory.
type counter struct {
	client *client.Client
	slots  chan struct{}

	mu  sync.Mutex
	inv *inventory
	// seen are the resources that have objects, hidden those that may not be read.
	seen, hidden map[schema.GroupResource]bool
}

// start returns the inventory of a workspace before anything has been looked at.
func start(p logicalcluster.Path, ws *tenancyv1alpha1.Workspace) *inventory {
	inv := &inventory{path: p, workspace: ws, clusters: map[string]bool{p.String(): true}}
	if ws.Spec.Cluster != "" {
		inv.clusters[ws.Spec.Cluster] = true
	}
	return inv
}

// walk finds the workspaces below, and returns them all. What may not be read is left
// open; the error is that of an interruption.
func (inv *inventory) walk(ctx context.Context, c *client.Client) ([]logicalcluster.Path, error) {
	if inv.workspace.Spec.Mount != nil {
		// What is mounted stays where it is.
		return nil, nil
	}
	top, err := walk.Walk(ctx, c, inv.path, walk.Options{Deleting: true})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	inv.hidden = err != nil
	paths := []logicalcluster.Path{inv.path}
	for _, n := range top.All()[1:] {
		inv.hidden = inv.hidden || n.Forbidden || n.Err != nil
		inv.below = append(inv.below, strings.TrimPrefix(n.Path.String(), inv.path.String()+":"))
		inv.clusters[n.Path.String()] = true
		if n.Cluster != "" {
			inv.clusters[n.Cluster] = true
		}
		if !n.Mount() {
			paths = append(paths, n.Path)
		}
	}
	return paths, nil
}

// fill counts everything that goes with the workspace. The error is that of an
// interruption.
func (inv *inventory) fill(ctx context.Context, c *client.Client) error {
	paths, err := inv.walk(ctx, c)
	if err != nil {
		return err
	}
	if len(paths) > mostCounted {
		paths, inv.uncounted = paths[:mostCounted], true
	}
	counter := &counter{client: c, slots: make(chan struct{}, requests), inv: inv, seen: map[schema.GroupResource]bool{}, hidden: map[schema.GroupResource]bool{}}
	counter.count(ctx, paths)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// count counts what is in the workspaces.
func (c *counter) count(ctx context.Context, paths []logicalcluster.Path) {
	var running sync.WaitGroup
	for _, p := range paths {
		running.Go(func() { c.lookAtExports(ctx, p) })
		running.Go(func() { c.lookAtObjects(ctx, p) })
	}
	running.Wait()
	c.inv.resources, c.inv.hiddenResources = len(c.seen), len(c.hidden)
}

// request runs f when there is a slot for it.
func (c *counter) request(f func()) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	f()
}

func (c *counter) lookAtExports(ctx context.Context, p logicalcluster.Path) {
	var (
		found []client.Export
		err   error
	)
	c.request(func() {
		var apis *client.APIs
		if apis, err = c.client.APIs(ctx, p); err == nil {
			found, err = apis.Exports(ctx)
		}
	})
	if err != nil {
		c.mu.Lock()
		c.inv.hiddenExports = true
		c.mu.Unlock()
		return
	}
	for _, e := range found {
		one := export{name: e.Name}
		c.request(func() {
			clusters, err := c.client.Consumers(ctx, p, e.Name)
			one.consumers, one.known = len(clusters), err == nil
		})
		c.mu.Lock()
		c.inv.exports = append(c.inv.exports, one)
		c.mu.Unlock()
	}
}

// notCounted are resources whose objects are told apart, or are no objects of the user.
var notCounted = map[schema.GroupResource]bool{
	{Group: "tenancy.kcp.io", Resource: "workspaces"}:   true,
	{Group: "core.kcp.io", Resource: "logicalclusters"}: true,
	// The same objects are in the group without a name.
	{Group: "events.k8s.io", Resource: "events"}: true,
}

func (c *counter) lookAtObjects(ctx context.Context, p logicalcluster.Path) {
	var (
		resources []schema.GroupVersionResource
		err       error
	)
	c.request(func() { resources, err = c.client.Resources(ctx, p) })
	if err != nil {
		c.mu.Lock()
		c.inv.uncounted = true
		c.mu.Unlock()
		return
	}
	var running sync.WaitGroup
	for _, gvr := range resources {
		if notCounted[gvr.GroupResource()] {
			continue
		}
		running.Go(func() {
			c.request(func() {
				n, err := c.client.CountOf(ctx, p, gvr)
				c.note(gvr.GroupResource(), n, err)
			})
		})
	}
	running.Wait()
}

func (c *counter) note(gr schema.GroupResource, n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil:
		c.hidden[gr] = true
	case n > 0:
		c.inv.objects += n
		c.seen[gr] = true
	}
}

// contains says whether p is the workspace, or below it.
func (inv *inventory) contains(p logicalcluster.Path) bool {
	for at, ok := p, true; ok; at, ok = at.Parent() {
		if inv.clusters[at.String()] {
			return true
		}
	}
	return false
}
