package ephemeral

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/apply"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
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
	for _, m := range manifests {
		if err := p.lacks(ctx, exportOf(m.Object)); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		if err := applier.Apply(ctx, m); err != nil {
			return err
		}
	}
	return p.bind(ctx, applier, true)
}

// exportOf returns the export that an object is a binding to, nothing if it is none. Without
// a path it is in the workspace itself.
func exportOf(object *unstructured.Unstructured) export {
	if object.GroupVersionKind().Group != apisv1alpha2.GroupName || object.GetKind() != "APIBinding" {
		return export{}
	}
	path, _, _ := unstructured.NestedString(object.Object, "spec", "reference", "export", "path")
	name, _, _ := unstructured.NestedString(object.Object, "spec", "reference", "export", "name")
	return export{path: path, name: name}
}

// lacks says that there is no export to bind, nothing if there may be one. A binding would wait
// for it, but nobody but this process, which waits for the binding, could make it. What else is
// wrong the server says better when the binding is made.
func (p *plane) lacks(ctx context.Context, e export) error {
	at := p.options.workspace
	if e.path != "" {
		at, _ = logicalcluster.ParsePath(e.path)
	}
	if e.name == "" || at.Empty() {
		return nil
	}
	if apis, err := p.client.APIs(ctx, at); err == nil {
		if _, err = apis.Export(ctx, e.name); apierrors.IsNotFound(err) {
			return fmt.Errorf("there is no APIExport %s in %s", e.name, at)
		}
	}
	return nil
}

// bind binds the exports that are in the workspace itself, or all others: those may have been
// applied, these are what manifests may need.
func (p *plane) bind(ctx context.Context, applier *apply.Applier, inside bool) error {
	for _, e := range p.options.exports {
		if (e.path == p.options.workspace.String()) != inside {
			continue
		}
		if err := p.lacks(ctx, e); err != nil {
			return fmt.Errorf("binding %s:%s: %w", e.path, e.name, err)
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
