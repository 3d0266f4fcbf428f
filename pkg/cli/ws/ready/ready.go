// Package ready waits until a new workspace can be used, and says what it lacks if that
// takes too long.
package ready

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// errInvisible ends waiting for a workspace that was written and cannot be read.
var errInvisible = errors.New("not visible")

// Waiter waits for workspaces to become ready.
type Waiter struct {
	// Client is how the server is reached.
	Client *client.Client
	// Parent is where the workspace is.
	Parent logicalcluster.Path
	// VisiblePatience is how long it may be missing after it was created: a read may be
	// answered by another server than the write.
	VisiblePatience time.Duration
	// ReadyPatience is how long it may take to become ready.
	ReadyPatience time.Duration
	// Called is how the user would name the workspace, "" for its path.
	Called string
	// State is told how far the workspace is. It may be nil.
	State func(string)
}

// wait is waiting for one workspace.
type wait struct {
	Waiter
	ws    *tenancyv1alpha1.Workspace
	names *waiting.Names
	// state is how far it is.
	state waiting.State
	// initializers is how many there were at the beginning.
	initializers int
	seen         chan struct{}
}

// Wait returns the workspace when it is ready. seen says that ws was read from the
// server, not only written to it.
func (w Waiter) Wait(ctx context.Context, ws *tenancyv1alpha1.Workspace, seen bool) (*tenancyv1alpha1.Workspace, error) {
	one := &wait{Waiter: w, ws: ws, names: waiting.NewNames(w.Client), seen: make(chan struct{})}
	if done, err := one.look(ctx, ws, seen); done || err != nil {
		return one.ws, err
	}
	limited, cancel := context.WithTimeout(ctx, w.ReadyPatience)
	defer cancel()
	visible, hide := context.WithCancelCause(limited)
	defer hide(nil)
	defer time.AfterFunc(w.VisiblePatience, func() {
		if !one.isSeen() {
			hide(errInvisible)
		}
	}).Stop()

	err := w.Client.FollowWorkspace(visible, w.Parent, ws.Name, func(latest *tenancyv1alpha1.Workspace) (bool, error) {
		return one.look(visible, latest, true)
	})
	switch {
	case err == nil:
		return one.ws, nil
	case limited.Err() != nil:
		return nil, one.gaveUp(ctx)
	case errors.Is(context.Cause(visible), errInvisible):
		return nil, fmt.Errorf("workspace %q was created, but is still not visible after %gs", ws.Name, w.VisiblePatience.Seconds())
	case errors.Is(err, errEnding), errors.Is(err, errDisappeared):
		return nil, err
	default:
		return nil, fmt.Errorf("waiting for workspace %q to be ready: %w", ws.Name, err)
	}
}

// What a workspace comes to that never becomes ready.
var (
	errEnding      = errors.New("is being deleted")
	errDisappeared = errors.New("has disappeared")
)

func (w *wait) isSeen() bool {
	select {
	case <-w.seen:
		return true
	default:
		return false
	}
}

// look takes note of the workspace as it is, nil if there is none, and says whether it is
// ready.
func (w *wait) look(ctx context.Context, ws *tenancyv1alpha1.Workspace, read bool) (ready bool, err error) {
	if ws == nil {
		if w.isSeen() {
			return false, fmt.Errorf("workspace %q %w", w.ws.Name, errDisappeared)
		}
		return false, nil
	}
	if read && !w.isSeen() {
		close(w.seen)
	}
	w.ws = ws
	if ws.DeletionTimestamp != nil {
		return false, fmt.Errorf("workspace %q %w", ws.Name, errEnding)
	}
	w.state = w.names.In(ctx, waiting.Of(ws))
	w.initializers = max(w.initializers, len(w.state.Initializers))
	// That it is ready is said once, with how long it took.
	if w.State != nil && !w.state.Ready() {
		w.State(w.state.Line(w.initializers))
	}
	return w.state.Ready(), nil
}

// gaveUp says why waiting has ended before the workspace was ready.
func (w *wait) gaveUp(ctx context.Context) error {
	hint := "kubectl ws why " + cmp.Or(w.Called, ":"+w.Parent.Join(w.ws.Name).String())
	missing := w.state.Missing()
	if ctx.Err() != nil {
		return run.Hint(fmt.Errorf("interrupted: workspace %q exists and goes on initializing, %s", w.ws.Name, missing), hint)
	}
	return run.Hint(fmt.Errorf("workspace %q is not ready after %gs: %s", w.ws.Name, w.ReadyPatience.Seconds(), missing), hint)
}

// IsReady says whether ws can be used.
func IsReady(ws *tenancyv1alpha1.Workspace) bool { return waiting.Of(ws).Ready() }
