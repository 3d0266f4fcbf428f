package workspace

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostNested is how many nested workspaces are looked into: whoever fills a
	// workspace decides how many there are.
	mostNested = 5
	// deepest is how many levels of nested workspaces are looked into.
	deepest = 8
)

// gatherer asks the server.
type gatherer struct {
	client   *client.Client
	commands diagnosis.Commands
}

func (g gatherer) diagnose(ctx context.Context, p logicalcluster.Path, depth int) (*diagnosis.Diagnosis, error) {
	f, err := g.gather(ctx, p, depth)
	if err != nil {
		return nil, err
	}
	return Judge(f), nil
}

// gather asks for everything that matters about the workspace p.
func (g gatherer) gather(ctx context.Context, p logicalcluster.Path, depth int) (*Findings, error) {
	f := &Findings{Path: p, Commands: g.commands, Now: time.Now(), Hooks: map[string]hook.Described{}}
	parent, below := p.Parent()
	if below {
		f.Workspace, f.WorkspaceErr = g.client.Workspace(ctx, parent, p.Base())
	}
	f.Cluster, f.ClusterErr = g.client.LogicalCluster(ctx, g.address(f))
	if err := unreachable(f); err != nil {
		return nil, err
	}
	switch {
	case f.Cluster == nil && apierrors.IsNotFound(f.WorkspaceErr):
		g.missing(ctx, f)
		return f, nil
	case f.Workspace == nil && f.Cluster != nil:
		g.owner(ctx, f)
	case apierrors.IsForbidden(f.ClusterErr):
		visible, err := g.client.Probe(ctx, g.address(f))
		f.Inside = err == nil && visible == client.Visible
		f.User = g.user(ctx, parent)
	}
	g.hooks(ctx, f)
	if f.Cluster == nil {
		return f, nil
	}
	f.Bindings, f.BindingsErr = g.client.Bindings(ctx, f.Path)
	if deleted(f) {
		g.nested(ctx, f, depth)
		if len(f.Nested) == 0 {
			g.left(ctx, f)
		}
	}
	return f, nil
}

// address returns how to get into the workspace: its cluster can be reached even where its
// path leads nowhere any more.
func (g gatherer) address(f *Findings) logicalcluster.Path {
	if f.Workspace != nil {
		if name, err := logicalcluster.ParsePath(f.Workspace.Spec.Cluster); err == nil {
			return name
		}
	}
	return f.Path
}

// unreachable returns the error of a server that does not answer at all, or does not know
// who is asking: that says nothing about the workspace.
func unreachable(f *Findings) error {
	transport := (*url.Error)(nil)
	for _, err := range []error{f.WorkspaceErr, f.ClusterErr} {
		if apierrors.IsUnauthorized(err) || errors.As(err, &transport) {
			return err
		}
	}
	return nil
}

// missing finds out what of the path is not there, and what is beside it.
func (g gatherer) missing(ctx context.Context, f *Findings) {
	f.Missing = f.Path
	for {
		parent, ok := f.Missing.Parent()
		if !ok {
			return
		}
		siblings, err := g.client.Workspaces(ctx, parent)
		if err == nil {
			for i := range siblings {
				f.Siblings = append(f.Siblings, siblings[i].Name)
			}
			return
		}
		above, ok := parent.Parent()
		if !ok || !apierrors.IsNotFound(err) {
			return
		}
		if _, err := g.client.Workspace(ctx, above, parent.Base()); !apierrors.IsNotFound(err) {
			return
		}
		f.Missing = parent
	}
}

// owner looks for the Workspace of a logical cluster that was asked for by its name.
func (g gatherer) owner(ctx context.Context, f *Findings) {
	owner := f.Cluster.Spec.Owner
	if owner == nil || owner.Resource != "workspaces" {
		return
	}
	if parent, err := logicalcluster.ParsePath(owner.Cluster); err == nil {
		f.Workspace, f.WorkspaceErr = g.client.Workspace(ctx, parent, owner.Name)
	}
}

// user returns who is asking, as far as a workspace that he may enter tells: p or root, where
// most may ask that.
func (g gatherer) user(ctx context.Context, p logicalcluster.Path) string {
	user, err := g.client.WhoAmI(ctx, p)
	if err != nil {
		// Who may not even ask that is told less.
		user, _ = g.client.WhoAmI(ctx, logicalcluster.Root.Path())
	}
	return diagnosis.KnownAs(user)
}

// hooks describes the initializers or terminators, whichever matter.
func (g gatherer) hooks(ctx context.Context, f *Findings) {
	kind := kindOf(f)
	if kind == "" {
		return
	}
	for _, id := range pending(f, kind) {
		f.Hooks[id] = hook.Describe(ctx, g.client, kind, id)
	}
	if f.Cluster == nil {
		return
	}
	for _, id := range kind.All(f.Cluster) {
		if _, known := f.Hooks[id]; !known {
			f.Hooks[id] = hook.Describe(ctx, g.client, kind, id)
		}
	}
}

// left looks for what finalizers hold in a workspace that is being deleted.
func (g gatherer) left(ctx context.Context, f *Findings) {
	resources, err := g.client.Resources(ctx, f.Path)
	if err != nil {
		f.Unread = []string{"everything"}
		return
	}
	f.Left, f.Unread = finalizer.Find(ctx, g.client, f.Path, slices.DeleteFunc(resources, skipped))
}

// skipped says which resources are not content that is waited for: what has checks of its
// own, and what shows the objects of another resource.
func skipped(resource schema.GroupVersionResource) bool {
	switch resource.GroupResource() {
	case tenancyv1alpha1.Resource("workspaces"), corev1alpha1.Resource("logicalclusters"):
		return true
	case schema.GroupResource{Resource: "events"}, schema.GroupResource{Group: "events.k8s.io", Resource: "events"}:
		return true
	default:
		return false
	}
}

// nested diagnoses the workspaces that are in one that is being deleted.
func (g gatherer) nested(ctx context.Context, f *Findings, depth int) {
	children, err := g.client.Workspaces(ctx, f.Path)
	if err != nil {
		f.Unread = append(f.Unread, "workspaces")
		return
	}
	if depth >= deepest {
		return
	}
	for i := range children[:min(len(children), mostNested)] {
		if d, err := g.diagnose(ctx, f.Path.Join(children[i].Name), depth+1); err == nil {
			f.Nested = append(f.Nested, d)
		}
	}
}
