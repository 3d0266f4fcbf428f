package quickstart

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/ready"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	organization = "organization"
	universal    = "universal"

	orgSuffix = "-org"

	// The labels by which workspaces of the command are known.
	markLabel   = "kcp.io/quickstart"
	prefixLabel = "kcp.io/quickstart-prefix"

	// What is waited for at most: a workspace to be seen, and to be ready.
	visiblePatience = 5 * time.Second
	readyPatience   = time.Minute
	// The longest pause between two looks at a workspace that is being deleted, and how
	// long nothing is said meanwhile.
	deletionPause = 2 * time.Second
	silence       = 10 * time.Second
)

// builder makes what is not there yet, and says what it does.
type builder struct {
	client *client.Client
	out    io.Writer
	prefix string
}

func (b *builder) say(format string, args ...any) { _, _ = fmt.Fprintf(b.out, format+"\n", args...) }

// step says that a step begins.
func (b *builder) step(i, n int, what string) { b.say("Step %d/%d: %s...", i, n, what) }

// made says what came of a step: it was created or, if err says so, was there already.
// Another error is returned.
func (b *builder) made(what string, err error) error {
	switch {
	case err == nil:
		b.say("  %s created", what)
	case apierrors.IsAlreadyExists(err):
		b.say("  %s already exists", what)
	default:
		return fmt.Errorf("creating %s: %w", what, err)
	}
	return nil
}

func (b *builder) orgName() string { return b.prefix + orgSuffix }

func (b *builder) org() logicalcluster.Path { return logicalcluster.Root.Path().Join(b.orgName()) }

// workspace makes a workspace and waits until it is ready. existed says that it was
// there already.
func (b *builder) workspace(ctx context.Context, parent logicalcluster.Path, name, kind string) (existed bool, err error) {
	ws, err := b.client.CreateWorkspace(ctx, parent, &tenancyv1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{markLabel: "true", prefixLabel: b.prefix}},
		Spec:       tenancyv1alpha1.WorkspaceSpec{Type: &tenancyv1alpha1.WorkspaceTypeReference{Name: kind, Path: "root"}},
	})
	if apierrors.IsAlreadyExists(err) {
		existed = true
		ws, err = b.client.Workspace(ctx, parent, name)
	}
	if err == nil {
		waiter := ready.Waiter{Client: b.client, Parent: parent, VisiblePatience: visiblePatience, ReadyPatience: readyPatience}
		_, err = waiter.Wait(ctx, ws, existed)
	}
	if err != nil {
		return existed, fmt.Errorf("creating workspace %s: %w", parent.Join(name), err)
	}
	return existed, nil
}

// announce makes a workspace and says so.
func (b *builder) announce(ctx context.Context, parent logicalcluster.Path, name, kind string) error {
	existed, err := b.workspace(ctx, parent, name, kind)
	if err != nil {
		return err
	}
	what := "created"
	if existed {
		what = "already exists"
	}
	b.say("  Workspace %q (type root:%s) %s", parent.Join(name), kind, what)
	return nil
}

// removeOrganization deletes the organization and waits until it is gone.
func (b *builder) removeOrganization(ctx context.Context) error {
	b.say("Deleting workspace %q with everything in it...", b.org())
	err := b.client.DeleteWorkspace(ctx, logicalcluster.Root.Path(), b.orgName())
	if apierrors.IsNotFound(err) {
		b.say("  Workspace %q does not exist", b.org())
		return nil
	}
	if err != nil {
		return err
	}
	said := time.Now()
	for pause := deletionPause / 100; ; pause = min(2*pause, deletionPause) {
		_, err := b.client.Workspace(ctx, logicalcluster.Root.Path(), b.orgName())
		switch {
		case apierrors.IsNotFound(err):
			b.say("  Workspace %q deleted", b.org())
			return nil
		case err != nil:
			return fmt.Errorf("waiting for workspace %s to be gone: %w", b.org(), err)
		case time.Since(said) > silence:
			said = time.Now()
			b.say("  Waiting for workspace %q to be gone", b.org())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
