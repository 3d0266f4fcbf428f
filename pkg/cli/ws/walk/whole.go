package walk

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// bigAfter is how many workspaces may wait to be asked for their children before all
// workspaces of the server are asked for instead: fewer are quicker one by one.
const bigAfter = 64

// whole is what a server answers when it is asked for everything at once.
type whole struct {
	once sync.Once
	// known are all workspaces by the logical cluster that they are in. It is nil while
	// nobody has asked, and if the server does not tell.
	known map[string][]tenancyv1alpha1.Workspace
}

// children returns the workspaces in n.
func (w *walker) children(ctx context.Context, n *Node) ([]tenancyv1alpha1.Workspace, error) {
	if n.Parent == nil {
		// The start is always asked: its answer says whether it is there and may be read.
		items, err := w.server.Workspaces(ctx, n.Path)
		if err != nil {
			err = w.server.Explain(ctx, n.Path, err)
		}
		return items, err
	}
	if n.Cluster != "" {
		if all := w.everything(ctx); all != nil {
			return all[n.Cluster], nil
		}
	}
	return w.server.Workspaces(ctx, n.Path)
}

// everything returns the workspaces in each logical cluster if there is so much to do that
// it pays to ask for that, and if the server tells.
func (w *walker) everything(ctx context.Context) map[string][]tenancyv1alpha1.Workspace {
	w.mu.Lock()
	known, waiting := w.whole.known, slices.Clone(w.queue)
	w.mu.Unlock()
	if known != nil || len(waiting) < bigAfter {
		return known
	}
	// The other workers wait for the answer: it has what they would ask for.
	w.whole.once.Do(func() {
		all, err := w.server.AllWorkspaces(ctx)
		if err == nil && hasAll(all, waiting) {
			w.mu.Lock()
			w.whole.known = all
			w.mu.Unlock()
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whole.known
}

// hasAll says whether all has the nodes that are known already. A server that does not
// understand the question may answer it with less.
func hasAll(all map[string][]tenancyv1alpha1.Workspace, nodes []*Node) bool {
	uids := map[types.UID]bool{}
	for _, items := range all {
		for i := range items {
			uids[items[i].UID] = true
		}
	}
	return !slices.ContainsFunc(nodes, func(n *Node) bool { return n.Workspace != nil && !uids[n.Workspace.UID] })
}
