package remove

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
)

// someoneIsThere says whether a question would be heard.
func (o *Options) someoneIsThere() bool {
	_, ok := ask.Someone(o.finder.Streams)
	return ok
}

// delete deletes the workspaces and, if that is wanted, waits until they are gone.
func (o *Options) delete(ctx context.Context, c *client.Client, victims []*victim) error {
	here, inside := o.whereabouts()
	if inside {
		o.findMe(ctx, c, here, victims)
	}
	for _, v := range victims {
		// Somebody may have been faster, or it was below one that is gone already.
		if err := c.DeleteThisWorkspace(ctx, v.parent, v.workspace, false); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	// Where one is does not exist any more, whatever comes of waiting.
	var left error
	if inside {
		left = o.leave(context.WithoutCancel(ctx), here, victims)
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	for _, v := range victims {
		if o.Wait {
			if err := o.wait(ctx, limited, c, v); err != nil {
				return errors.Join(err, left)
			}
		}
		if o.Output.Document() {
			continue
		}
		if _, err := fmt.Fprintf(o.finder.Streams.Out, "%s deleted\n", v.name()); err != nil {
			return err
		}
	}
	return left
}

// wait returns when the workspace is gone.
func (o *Options) wait(ctx, limited context.Context, c *client.Client, v *victim) error {
	p := progress.Start(o.finder.Streams, o.finder.Display, "workspace "+v.path.String())
	defer p.Done("")
	names := waiting.NewNames(c)
	last := names.In(limited, waiting.Of(v.workspace))
	last.Ending = true
	err := c.FollowWorkspace(limited, v.parent, v.workspace.Name, func(ws *tenancyv1alpha1.Workspace) (bool, error) {
		if ws == nil || ws.UID != v.workspace.UID {
			// It is gone; there may be a new one of the same name.
			return true, nil
		}
		last = names.In(limited, waiting.Of(ws))
		p.State(last.Line(0))
		return false, nil
	})
	hint := "kubectl ws why :" + v.path.String()
	switch {
	case err == nil:
		p.Done("Gone")
		return nil
	case ctx.Err() != nil:
		return run.Hint(fmt.Errorf("interrupted: the deletion of workspace %s goes on, %s", v.path, last.Missing()), hint)
	case limited.Err() != nil:
		return run.Timeout(run.Hint(fmt.Errorf("workspace %s is not gone after %s: %s", v.path, short(o.Timeout), last.Missing()), hint))
	case apierrors.IsNotFound(err):
		// What it was in is gone.
		return nil
	default:
		return fmt.Errorf("waiting for workspace %s to be gone: %w", v.path, err)
	}
}

// short returns d without the units that are zero.
func short(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return d.String()
}

// whereabouts returns where the kubeconfig leads, whatever flags have said. ok is false if
// that is no workspace on this server.
func (o *Options) whereabouts() (here *target.Origin, ok bool) {
	here, err := o.finder.Stored().Origin()
	if err != nil || !here.InWorkspace() {
		return nil, false
	}
	origin, err := o.finder.Origin()
	return here, err == nil && path.SameServer(origin.Base, here.Base)
}

// findMe looks below the workspaces if only that tells whether one is in them: the current
// one may be named by its identifier.
func (o *Options) findMe(ctx context.Context, c *client.Client, here *target.Origin, victims []*victim) {
	for _, v := range victims {
		if here.Path.Segments()[0] != v.path.Segments()[0] && len(v.inventory.clusters) <= 2 {
			// Who cannot be found there stays where they are.
			_, _ = v.inventory.walk(ctx, c)
		}
	}
}

// leave goes to the workspace above the topmost of those that go, if the current one is
// among them or below.
func (o *Options) leave(ctx context.Context, here *target.Origin, victims []*victim) error {
	var topmost *victim
	for _, v := range victims {
		if v.inventory.contains(here.Path) && (topmost == nil || len(v.path.Segments()) < len(topmost.path.Segments())) {
			topmost = v
		}
	}
	if topmost == nil {
		return nil
	}
	stored := o.finder.Stored()
	if o.Output.Document() {
		stored.Streams.Out = stored.Streams.ErrOut
	}
	return switching.Switcher{Finder: stored}.To(ctx, here, topmost.parent, "")
}
