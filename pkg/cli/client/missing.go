package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// isWorkspaceMissing tells a workspace that is not there from an API that a workspace
// lacks: the server answers both with "not found", and names in its details what it is.
func isWorkspaceMissing(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Group == tenancyv1alpha1.GroupName && details.Kind == "workspaces"
}

// accessDenied is how refusals end of those who may not be in a workspace at all. Those of
// people who lack a permission there can end in the same way.
const accessDenied = ": access denied"

// Explain returns what err, the answer to a request about what is in the workspace p,
// says about p itself: that there is no such workspace, with names that may have been
// meant, or that the caller may not be there. Other errors it returns as they are.
func (c *Client) Explain(ctx context.Context, p logicalcluster.Path, err error) error {
	switch {
	case isWorkspaceMissing(err):
		return c.Missing(ctx, p)
	case apierrors.IsForbidden(err) && strings.HasSuffix(err.Error(), accessDenied):
		if v, probeErr := c.Probe(ctx, p); probeErr == nil && v == Visible {
			// Who is let in lacks what the server says, and nothing else.
			return err
		}
		return Denied(p, err)
	default:
		return err
	}
}

// Denied returns the error that says that the caller may not be in the workspace p, which
// cause, if there is one, says in the words of the server.
func Denied(p logicalcluster.Path, cause error) error {
	err := explained{message: fmt.Sprintf("access to workspace \"%s\" denied", p), cause: cause}
	return run.Hint(err, "kubectl ws why :"+p.String())
}

// explained says in other words what the server answered. What kind of answer it was can
// still be asked.
type explained struct {
	message string
	cause   error
}

func (e explained) Error() string { return e.message }

func (e explained) Unwrap() error { return e.cause }

// ErrMissing is in errors that say that there is no such workspace.
var ErrMissing = errors.New("not found")

// Missing returns the error that says that there is no workspace p. It asks the server
// for those that may have been meant.
func (c *Client) Missing(ctx context.Context, p logicalcluster.Path) error {
	err := fmt.Errorf("workspace \"%s\" %w", p, ErrMissing)
	if names := c.nearest(ctx, p); len(names) > 0 {
		return run.Hint(err, "did you mean "+strings.Join(names, ", ")+"?")
	}
	return err
}

// NamedBinding is Binding for a name that somebody has typed. If there is no such binding, it
// says which may have been meant.
func (a *APIs) NamedBinding(ctx context.Context, name string) (*Binding, error) {
	binding, err := a.Binding(ctx, name)
	if apierrors.IsNotFound(err) && !isWorkspaceMissing(err) {
		if meant := a.NearBindings(ctx, name); len(meant) > 0 {
			err = run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?")
		}
	}
	return binding, err
}

// NearBindings returns the names of bindings that may have been meant by name.
func (a *APIs) NearBindings(ctx context.Context, name string) []string {
	// The caller has an error to report already; this is only to help.
	all, _ := a.Bindings(ctx)
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].Name)
	}
	return near.Names(name, names)
}

// nearest returns the paths of the siblings of p that may have been meant. If the parent
// is not there either, it is the parent that is looked for, and so on: who mistypes a
// name in the middle of a path has not mistyped what follows.
func (c *Client) nearest(ctx context.Context, p logicalcluster.Path) []string {
	for below := ""; ; {
		parent, ok := p.Parent()
		if !ok {
			return nil
		}
		siblings, err := c.Workspaces(ctx, parent)
		switch {
		case isWorkspaceMissing(err):
			below = ":" + p.Base() + below
			p = parent
			continue
		case err != nil:
			// The caller has an error to report already; this was only to help.
			return nil
		}
		names := make([]string, 0, len(siblings))
		for i := range siblings {
			names = append(names, siblings[i].Name)
		}
		names = near.Names(p.Base(), names)
		for i, name := range names {
			names[i] = parent.Join(name).String() + below
		}
		return names
	}
}
