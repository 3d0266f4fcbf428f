package show

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types/view"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// gatherer finds out what the types themselves do not say. What the caller may not know
// stays unknown.
type gatherer struct {
	client *client.Client
}

// complete fills in v, which was made of set.
func (g gatherer) complete(ctx context.Context, v *view.View, set *tenancy.Set) error {
	for i := range v.Bindings {
		if err := g.binding(ctx, &v.Bindings[i]); err != nil {
			return err
		}
	}
	use, err := g.use(ctx, set)
	v.Use = use
	return err
}

// binding finds out whether an export is there, and may be bound.
func (g gatherer) binding(ctx context.Context, b *view.Binding) error {
	path, err := logicalcluster.ParsePath(b.Path)
	if err != nil {
		return err
	}
	apis, err := g.client.APIs(ctx, path)
	if err == nil {
		_, err = apis.Export(ctx, b.Export)
	}
	if b.Found, err = answer(err == nil, err); err != nil {
		return err
	}
	may, err := g.client.MayBind(ctx, path, b.Export)
	b.MayBind, err = answer(may, err)
	return err
}

// use finds out who may make workspaces of the type.
func (g gatherer) use(ctx context.Context, set *tenancy.Set) (*view.Use, error) {
	use := &view.Use{You: view.Yes}
	for _, alias := range set.Aliases {
		may, err := g.client.MayUseType(ctx, alias.Path, alias.Object.Name)
		known, err := answer(may, err)
		switch {
		case err != nil:
			return nil, err
		case known == view.No:
			use.You, use.Lacking = view.No, append(use.Lacking, alias.String())
		case known == view.Unknown && use.You == view.Yes:
			use.You = view.Unknown
		}
	}
	roles, err := g.client.ClusterRoles(ctx, set.Type.Path)
	if err != nil {
		return use, unlessHidden(err)
	}
	bindings, err := g.client.ClusterRoleBindings(ctx, set.Type.Path)
	if err != nil {
		return use, unlessHidden(err)
	}
	use.Readable, use.Subjects = true, view.Users(set.Type.Object.Name, roles, bindings)
	return use, nil
}

// answer returns what is known after asking.
func answer(yes bool, err error) (view.Answer, error) {
	switch {
	case apierrors.IsNotFound(err):
		return view.No, nil
	case err != nil:
		return view.Unknown, unlessHidden(err)
	case yes:
		return view.Yes, nil
	default:
		return view.No, nil
	}
}

// unlessHidden returns nil if err says that the caller may not know.
func unlessHidden(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
