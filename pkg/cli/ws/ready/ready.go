// Package ready waits until a new workspace can be used, and says what it lacks if that
// takes too long.
package ready

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The pauses between two looks at a workspace: most are ready in milliseconds, and
// those that are not wait for something slow.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

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
}

// Wait returns the workspace when it is ready. seen says that ws was read from the
// server, not only written to it.
func (w Waiter) Wait(ctx context.Context, ws *tenancyv1alpha1.Workspace, seen bool) (*tenancyv1alpha1.Workspace, error) {
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, w.ReadyPatience)
	defer cancel()

	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if ws.DeletionTimestamp != nil {
			return nil, fmt.Errorf("workspace %q is being deleted", ws.Name)
		}
		if IsReady(ws) {
			return ws, nil
		}
		select {
		case <-limited.Done():
			return nil, w.gaveUp(ctx, ws)
		case <-time.After(pause):
		}

		latest, err := w.Client.Workspace(limited, w.Parent, ws.Name)
		switch {
		case err == nil:
			ws, seen = latest, true
		case limited.Err() != nil:
			return nil, w.gaveUp(ctx, ws)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("waiting for workspace %q to be ready: %w", ws.Name, err)
		case seen:
			return nil, fmt.Errorf("workspace %q has disappeared", ws.Name)
		case time.Since(start) > w.VisiblePatience:
			return nil, fmt.Errorf("workspace %q was created, but is still not visible after %gs", ws.Name, w.VisiblePatience.Seconds())
		}
	}
}

// gaveUp says why waiting has ended before ws, as it was seen last, was ready.
func (w Waiter) gaveUp(ctx context.Context, ws *tenancyv1alpha1.Workspace) error {
	hint := fmt.Sprintf("kubectl get workspace %s -o yaml shows its conditions", ws.Name)
	if ctx.Err() != nil {
		return run.Hint(fmt.Errorf("interrupted: workspace %q exists and goes on initializing, %s", ws.Name, missing(ws)), hint)
	}
	return run.Hint(fmt.Errorf("workspace %q is not ready after %gs: %s", ws.Name, w.ReadyPatience.Seconds(), missing(ws)), hint)
}

// IsReady says whether ws can be used.
func IsReady(ws *tenancyv1alpha1.Workspace) bool {
	return ws.Status.Phase == corev1alpha1.PhaseReady && ws.DeletionTimestamp == nil
}

// missing says what keeps ws from being ready.
func missing(ws *tenancyv1alpha1.Workspace) string {
	if names := ws.Status.Initializers; len(names) > 0 {
		what := "initializer"
		if len(names) > 1 {
			what += "s"
		}
		return fmt.Sprintf("waiting for %s %s", what, join(names))
	}
	for _, c := range ws.Status.Conditions {
		if c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s is false: %s", c.Type, cmp.Or(c.Message, c.Reason, "no reason given"))
		}
	}
	return "waiting in phase " + cmp.Or(string(ws.Status.Phase), string(corev1alpha1.PhaseScheduling))
}

func join[S ~string](list []S) string {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, ", ")
}
