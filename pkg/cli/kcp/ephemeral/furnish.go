package ephemeral

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/apply"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/cli/ws/waiting"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// furnish makes the workspace and puts into it what is asked for.
func (p *plane) furnish(ctx context.Context, manifests []apply.Manifest) error {
	if err := p.makeWorkspace(ctx); err != nil {
		return err
	}
	if len(manifests)+len(p.options.exports) == 0 {
		return nil
	}
	applier, err := apply.New(p.config)
	if err != nil {
		return err
	}
	if err := p.bind(ctx, applier, false); err != nil {
		return err
	}
	if err := applier.Apply(ctx, manifests...); err != nil {
		return err
	}
	return p.bind(ctx, applier, true)
}

// bind binds the exports that are in the workspace itself, or all others: those may have been
// applied, these are what manifests may need.
func (p *plane) bind(ctx context.Context, applier *apply.Applier, inside bool) error {
	for _, e := range p.options.exports {
		if (e.path == p.options.workspace.String()) != inside {
			continue
		}
		if err := applier.Bind(ctx, e.path, e.name); err != nil {
			return err
		}
	}
	return nil
}

// makeWorkspace makes the workspace, and those above it that are not there.
func (p *plane) makeWorkspace(ctx context.Context) error {
	at := logicalcluster.Root.Path()
	segments := p.options.workspace.Segments()[1:]
	for i, name := range segments {
		var wanted *tenancyv1alpha1.WorkspaceTypeReference
		if i == len(segments)-1 {
			wanted = p.options.workspaceType
		}
		if err := p.makeOne(ctx, at, name, wanted); err != nil {
			return fmt.Errorf("making workspace %s: %w", at.Join(name), err)
		}
		at = at.Join(name)
	}
	if len(segments) == 0 && p.options.workspaceType != nil {
		return errors.New("--type: root is there already, and has its type")
	}
	return nil
}

// makeOne makes one workspace, unless it is there already with the type that is wanted.
func (p *plane) makeOne(ctx context.Context, parent logicalcluster.Path, name string, wanted *tenancyv1alpha1.WorkspaceTypeReference) error {
	ws, err := p.client.CreateWorkspace(ctx, parent, &tenancyv1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       tenancyv1alpha1.WorkspaceSpec{Type: wanted},
	})
	if apierrors.IsAlreadyExists(err) {
		ws, err = p.client.Workspace(ctx, parent, name)
		if err == nil && wanted != nil && ws.Spec.Type != nil && !isType(ws.Spec.Type, wanted) {
			return fmt.Errorf("it is there already, and its type is %s", typeref.Format(*ws.Spec.Type))
		}
	}
	if err != nil {
		return err
	}
	last := waiting.Of(ws)
	if last.Ready() {
		return nil
	}
	err = waiting.Follow(ctx, p.client, parent.Join(name), func(s *waiting.State) (bool, error) {
		if s != nil {
			last = *s
		}
		return last.Ready(), nil
	})
	if ctx.Err() != nil {
		return errors.New(last.Missing())
	}
	return err
}

// isType says whether a workspace has the type that is wanted, which may have no path.
func isType(has, wanted *tenancyv1alpha1.WorkspaceTypeReference) bool {
	return has.Name == wanted.Name && (wanted.Path == "" || has.Path == wanted.Path)
}
