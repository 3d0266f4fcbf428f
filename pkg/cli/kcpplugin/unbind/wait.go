package unbind

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
)

// The pauses between two looks at a binding that is being deleted.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// wait returns when the binding is gone, and says meanwhile what holds it.
func (o *Options) wait(ctx context.Context, apis *client.APIs, binding *client.Binding) error {
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	p := progress.Start(o.finder.Streams, o.finder.Display, "apibinding "+o.Name)
	defer p.Done("")
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		latest, err := apis.Binding(limited, o.Name)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case limited.Err() != nil:
			return o.gaveUp(ctx, binding)
		case err != nil:
			return fmt.Errorf("waiting for apibinding %s to be gone: %w", o.Name, err)
		case latest.UID != binding.UID:
			// It is gone; this is a new one of the same name.
			return nil
		}
		binding = latest
		p.State(held(binding))
		select {
		case <-limited.Done():
			return o.gaveUp(ctx, binding)
		case <-time.After(pause):
		}
	}
}

// gaveUp says what held the binding when waiting ended.
func (o *Options) gaveUp(ctx context.Context, binding *client.Binding) error {
	hint := "kubectl kcp debug binding " + o.Name
	if o.Workspace != "" {
		hint += " -w " + o.Workspace
	}
	if ctx.Err() != nil {
		return run.Hint(fmt.Errorf("interrupted: the deletion of apibinding %s goes on, %s", o.Name, held(binding)), hint)
	}
	return run.Hint(fmt.Errorf("apibinding %s is not gone after %gs: %s", o.Name, o.Timeout.Seconds(), held(binding)), hint)
}

// held says what holds the deletion of the binding.
func held(binding *client.Binding) string {
	c, ok := conditions.Get(binding, apisv1alpha1.BindingResourceDeleteSuccess)
	if ok && c.Status == corev1.ConditionFalse {
		return cmp.Or(c.Message, c.Reason)
	}
	return "its objects are being deleted"
}
