package bind

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
)

// The pauses between two looks at a binding: most are bound in milliseconds, and those
// that are not wait for something slow.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Waiter waits until something is bound.
type Waiter struct {
	// Timeout is how long to wait.
	Timeout time.Duration
	// Told is called with what is missing, after each look.
	Told func(missing string)
	// Hint is how to find out more after waiting in vain.
	Hint string
}

// Wait returns the binding when it is bound.
func (w Waiter) Wait(ctx context.Context, apis *client.APIs, binding *client.Binding) (*client.Binding, error) {
	limited, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		switch {
		case binding.DeletionTimestamp != nil:
			return nil, fmt.Errorf("apibinding %s is being deleted", binding.Name)
		case binding.Status.Phase == apisv1alpha2.APIBindingPhaseBound:
			return binding, nil
		}
		w.Told(missing(binding))
		select {
		case <-limited.Done():
			return nil, w.gaveUp(ctx, binding)
		case <-time.After(pause):
		}
		latest, err := apis.Binding(limited, binding.Name)
		switch {
		case err == nil:
			binding = latest
		case limited.Err() != nil:
			return nil, w.gaveUp(ctx, binding)
		default:
			return nil, fmt.Errorf("waiting for apibinding %s to be bound: %w", binding.Name, err)
		}
	}
}

// gaveUp says why waiting has ended before binding, as it was seen last, was bound.
func (w Waiter) gaveUp(ctx context.Context, binding *client.Binding) error {
	if ctx.Err() != nil {
		return run.Hint(fmt.Errorf("interrupted: apibinding %s exists and goes on binding, %s", binding.Name, missing(binding)), w.Hint)
	}
	return run.Hint(fmt.Errorf("could not bind %s in %gs: %s", binding.Name, w.Timeout.Seconds(), missing(binding)), w.Hint)
}

// missing says what keeps a binding from being bound. An export that cannot be found
// explains everything else.
func missing(binding *client.Binding) string {
	for _, t := range []conditions.Type{apisv1alpha1.APIExportValid, apisv1alpha1.InitialBindingCompleted, conditions.Ready} {
		if c, ok := conditions.Get(binding, t); ok && c.Status == corev1.ConditionFalse {
			return cmp.Or(c.Message, c.Reason, string(c.Type)+" is false")
		}
	}
	if binding.Status.Phase == apisv1alpha2.APIBindingPhaseNone {
		return "nothing on the server has looked at it yet"
	}
	return "waiting in phase " + string(binding.Status.Phase)
}
