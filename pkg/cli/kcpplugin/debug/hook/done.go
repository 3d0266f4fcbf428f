package hook

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// attempts is how often it is tried again when somebody else has changed the list.
const attempts = 5

// done takes the hook away from a workspace.
func (s *session) done(ctx context.Context, id string) error {
	p, err := s.origin.Workspace(ctx, s.Done)
	if err != nil {
		return err
	}
	known := hook.Describe(ctx, s.client, s.Kind, id)
	waiting, err := s.find(ctx, p, known)
	if err != nil {
		return err
	}
	if !slices.Contains(s.Kind.Pending(waiting.cluster), known.ID) {
		return run.Hint(fmt.Errorf("workspace %s does not wait for %s %s", p, s.Kind, known.Name), "kubectl ws why :"+p.String())
	}
	if err := s.agree(ctx, p, known); err != nil {
		return err
	}
	if err := s.remove(ctx, p, known, waiting); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.finder.Streams.Out, "%s %s removed from %s\n", s.Kind, known.Name, p)
	return err
}

// waiter is a logical cluster that waits, and how to write to it.
type waiter struct {
	cluster *corev1alpha1.LogicalCluster
	// virtual is the way for those who may act as the hook, nil for those who may write
	// to the workspace itself.
	virtual *client.Hook
}

// find returns the logical cluster of the workspace p: as its administrator sees it or, if
// the caller is none, as the hook does.
func (s *session) find(ctx context.Context, p logicalcluster.Path, known hook.Described) (waiter, error) {
	lc, err := s.client.LogicalCluster(ctx, p)
	if err == nil {
		return waiter{cluster: lc}, nil
	}
	virtual := s.Kind.Virtual(s.client, known.ID)
	all, hookErr := virtual.Waiting(ctx)
	if hookErr != nil {
		return waiter{}, err
	}
	for i := range all {
		if all[i].Annotations[logicalcluster.PathAnnotationKey] == p.String() || logicalcluster.FromAnnotations(all[i].Annotations).String() == p.String() {
			return waiter{cluster: &all[i], virtual: virtual}, nil
		}
	}
	return waiter{}, fmt.Errorf("workspace %s does not wait for %s %s", p, s.Kind, known.Name)
}

// agree asks whether that is meant.
func (s *session) agree(ctx context.Context, p logicalcluster.Path, known hook.Described) error {
	if s.confirm.Given() {
		return nil
	}
	person, ok := ask.Someone(s.finder.Streams)
	if !ok {
		return run.Hint(fmt.Errorf("what %s %s would do in %s is skipped, and there is nobody to ask whether that is meant", s.Kind, known.Name, p),
			"--yes asks nothing")
	}
	_, _ = fmt.Fprintln(s.finder.Streams.ErrOut, consequence(s.Kind, p, known))
	answer, err := person.Choice(ctx, fmt.Sprintf("Remove %s from %s (y/n)? ", known.Name, p), "yn")
	if err != nil {
		return err
	}
	if answer != "y" {
		return fmt.Errorf("nothing was changed: %s still waits for %s", p, known.Name)
	}
	return nil
}

// consequence says what is skipped.
func consequence(kind hook.Kind, p logicalcluster.Path, known hook.Described) string {
	skipped := fmt.Sprintf("%s becomes ready without what %s would have prepared in it", p, known.Name)
	if kind == hook.Terminator {
		skipped = fmt.Sprintf("%s goes without what %s would have cleaned up for it, here and elsewhere", p, known.Name)
	}
	return skipped + "; its controller will not see the workspace any more."
}

// remove takes the hook off the list, unless the list has changed meanwhile: then it looks
// again.
func (s *session) remove(ctx context.Context, p logicalcluster.Path, known hook.Described, w waiter) error {
	for range attempts {
		index := slices.Index(s.Kind.Pending(w.cluster), known.ID)
		if index < 0 {
			return nil // somebody was faster
		}
		err := s.patch(ctx, p, known, w, []byte(diagnosis.RemoveEntry(s.Kind.List(), index, known.ID)))
		if !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
			return err
		}
		if w, err = s.find(ctx, p, known); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s changes all the time, so nothing was removed", p)
}

func (s *session) patch(ctx context.Context, p logicalcluster.Path, known hook.Described, w waiter, patch []byte) error {
	cluster := logicalcluster.FromAnnotations(w.cluster.Annotations).String()
	if w.virtual != nil {
		return w.virtual.PatchStatus(ctx, cluster, patch)
	}
	err := s.client.PatchLogicalClusterStatus(ctx, p, patch)
	if !apierrors.IsForbidden(err) {
		return err
	}
	// Who may read the workspace need not be one who may write to it.
	if hookErr := s.Kind.Virtual(s.client, known.ID).PatchStatus(ctx, cluster, patch); hookErr == nil {
		return nil
	}
	return err
}
