package create

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/ready"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pathCharacters are those that make a path of a name.
const pathCharacters = ":/@~"

// place returns where the workspace is to be, and what it is to be called there.
func (o *Options) place(ctx context.Context, origin *target.Origin) (parent logicalcluster.Path, name string, err error) {
	if !strings.ContainsAny(o.Name, pathCharacters) {
		parent, err := origin.Workspace(ctx, o.Parent)
		return parent, o.Name, err
	}
	p, err := o.resolve(ctx, origin)
	if err != nil {
		return logicalcluster.Path{}, "", err
	}
	parent, ok := p.Parent()
	if !ok {
		return logicalcluster.Path{}, "", fmt.Errorf("%q names no workspace in another one, so it cannot be created", o.Name)
	}
	return parent, p.Base(), nil
}

func (o *Options) resolve(ctx context.Context, origin *target.Origin) (logicalcluster.Path, error) {
	ref, err := o.finder.Parse(o.Name)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	if ref.Kind != path.Relative {
		if o.Parent != "" {
			return logicalcluster.Path{}, fmt.Errorf("%s says where the workspace is to be, so --workspace cannot say it, too", o.Name)
		}
		return origin.Resolve(ctx, ref)
	}
	base, err := origin.Workspace(ctx, o.Parent)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	return ref.Resolve(base)
}

// createParents creates p and the workspaces above it, as far as they are missing.
func (o *Options) createParents(ctx context.Context, c *client.Client, p logicalcluster.Path) error {
	parent, ok := p.Parent()
	if !ok {
		return nil
	}
	_, err := c.Workspace(ctx, parent, p.Base())
	if err == nil || apierrors.IsForbidden(err) {
		// Who may not see it may still be allowed to create something in it.
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := o.createParents(ctx, c, parent); err != nil {
		return err
	}
	typeRef := o.parentType
	missing := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: p.Base()}, Spec: tenancyv1alpha1.WorkspaceSpec{Type: &typeRef}}
	ws, err := c.CreateWorkspace(ctx, parent, missing)
	existed := apierrors.IsAlreadyExists(err)
	if existed {
		// Somebody was faster.
		ws, err = c.Workspace(ctx, parent, p.Base())
	}
	if err != nil {
		return fmt.Errorf("creating the workspace %s above it: %w", p, err)
	}
	_, err = o.finish(ctx, c, parent, ws, existed)
	return err
}

// finish says that a workspace is there, and waits until it is ready.
func (o *Options) finish(ctx context.Context, c *client.Client, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, existed bool) (*tenancyv1alpha1.Workspace, error) {
	if err := o.announce(ws, existed); err != nil {
		return nil, err
	}
	if !ready.IsReady(ws) {
		var err error
		if ws, err = o.wait(ctx, c, parent, ws, existed); err != nil {
			return nil, err
		}
	}
	return ws, o.say("%s is ready to use.", title(ws))
}

// above returns err with what may be done about it, if the workspace to create one in is
// not there.
func (o *Options) above(ctx context.Context, c *client.Client, parent logicalcluster.Path, err error) error {
	explained := c.Explain(ctx, parent, err)
	if explained.Error() == err.Error() || o.Parents || apierrors.IsForbidden(explained) {
		return explained
	}
	return run.Hint(explained, "-p creates the workspaces above that are missing")
}
