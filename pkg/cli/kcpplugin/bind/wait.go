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

// Wait returns the binding when it is bound.
func Wait(ctx context.Context, apis *client.APIs, binding *client.Binding, timeout time.Duration) (*client.Binding, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		switch {
		case binding.DeletionTimestamp != nil:
			return nil, fmt.Errorf("apibinding %s is being deleted", binding.Name)
		case binding.Status.Phase == apisv1alpha2.APIBindingPhaseBound:
			return binding, nil
		}
		select {
		case <-limited.Done():
			return nil, gaveUp(ctx, binding, timeout)
		case <-time.After(pause):
		}
		latest, err := apis.Binding(limited, binding.Name)
		switch {
		case err == nil:
			binding = latest
		case limited.Err() != nil:
			return nil, gaveUp(ctx, binding, timeout)
		default:
			return nil, fmt.Errorf("waiting for apibinding %s to be bound: %w", binding.Name, err)
		}
	}
}

// gaveUp says why waiting has ended before binding, as it was seen last, was bound.
func gaveUp(ctx context.Context, binding *client.Binding, timeout time.Duration) error {
	hint := fmt.Sprintf("kubectl get apibinding %s -o yaml shows its conditions", binding.Name)
	if ctx.Err() != nil {
		return run.Hint(fmt.Errorf("interrupted: apibinding %s exists and goes on binding, %s", binding.Name, missing(binding)), hint)
	}
	return run.Hint(fmt.Errorf("could not bind %s in %gs: %s", binding.Name, timeout.Seconds(), missing(binding)), hint)
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
