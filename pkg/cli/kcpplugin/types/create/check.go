package create

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// checker looks whether what a new type refers to is there.
type checker struct {
	client *client.Client
	source *typeref.Source
	place  tenancy.Place
	// name is that of the new type, which may refer to itself.
	name string
	// check says whether to look at what needs no looking up.
	check bool
	// note is told what could not be looked at.
	note func(format string, args ...any)
}

// complete checks the references of spec, and replaces those to types by the ones that
// lead there from everywhere: limits are compared by them, and a name without a path
// would mean another type as soon as somebody makes one of that name nearer by.
func (c *checker) complete(ctx context.Context, spec *tenancyv1alpha1.WorkspaceTypeSpec) error {
	for i := range spec.Extend.With {
		if err := c.base(ctx, &spec.Extend.With[i]); err != nil {
			return err
		}
	}
	var others []*tenancyv1alpha1.WorkspaceTypeReference
	if spec.DefaultChildWorkspaceType != nil {
		others = append(others, spec.DefaultChildWorkspaceType)
	}
	for _, selector := range []*tenancyv1alpha1.WorkspaceTypeSelector{spec.LimitAllowedChildren, spec.LimitAllowedParents} {
		if selector == nil {
			continue
		}
		for i := range selector.Types {
			others = append(others, &selector.Types[i])
		}
	}
	for _, ref := range others {
		if err := c.other(ctx, ref); err != nil {
			return err
		}
	}
	if !c.check {
		return nil
	}
	for _, export := range spec.DefaultAPIBindings {
		if err := c.export(ctx, export); err != nil {
			return err
		}
	}
	return c.authConfigs(ctx, spec.AuthenticationConfigurations)
}

// base checks a type that the new one extends, with all that it extends itself.
func (c *checker) base(ctx context.Context, ref *tenancyv1alpha1.WorkspaceTypeReference) error {
	if !c.check {
		return nil
	}
	set, err := c.source.Resolver().Resolve(ctx, c.place, *ref)
	if err == nil {
		*ref = set.Type.Reference()
		return nil
	}
	return c.unlessHidden(err, *ref)
}

// other checks a type that may be above or below. Such a reference needs a path, so that
// it is looked up without one even if nothing else is checked.
func (c *checker) other(ctx context.Context, ref *tenancyv1alpha1.WorkspaceTypeReference) error {
	if ref.Name == c.name && (ref.Path == "" || ref.Path == c.place.Path.String() || ref.Path == c.place.Cluster.String()) {
		ref.Path = c.place.Path.String()
		return nil
	}
	if !c.check && ref.Path != "" {
		return nil
	}
	t, err := c.source.Resolver().Find(ctx, c.place, *ref)
	switch {
	case err == nil:
		*ref = t.Reference()
		return nil
	case ref.Path == "":
		return c.source.Explain(err, *ref)
	default:
		return c.unlessHidden(err, *ref)
	}
}

// unlessHidden returns nil if err says that the type may not be seen: the server may
// know it all the same.
func (c *checker) unlessHidden(err error, ref tenancyv1alpha1.WorkspaceTypeReference) error {
	if !apierrors.IsForbidden(err) {
		return c.source.Explain(err, ref)
	}
	c.note("workspace type %s was not checked: %s", typeref.Format(ref), run.Message(err))
	return nil
}

// export checks an export that is to be bound.
func (c *checker) export(ctx context.Context, ref tenancyv1alpha1.APIExportReference) error {
	where := c.place.Path
	if ref.Path != "" {
		parsed, err := logicalcluster.ParsePath(ref.Path)
		if err != nil {
			return err
		}
		where = parsed
	}
	apis, err := c.client.APIs(ctx, where)
	if err == nil {
		_, err = apis.Export(ctx, ref.Export)
	}
	switch {
	case apierrors.IsForbidden(err):
		c.note("export %s in %s was not checked: %s", ref.Export, where, run.Message(err))
		return nil
	case apierrors.IsNotFound(err):
		return missingExport(ctx, apis, where, ref.Export)
	default:
		return err
	}
}

// missingExport says that an export is not there, and which are.
func missingExport(ctx context.Context, apis *client.APIs, where logicalcluster.Path, name string) error {
	err := fmt.Errorf("export %s not found in %s", name, where)
	exports, listErr := apis.Exports(ctx)
	if listErr != nil {
		return err
	}
	var names []string
	for i := range exports {
		names = append(names, exports[i].Name)
	}
	if meant := near.Names(name, names); len(meant) > 0 {
		return run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?")
	}
	return run.Hint(err, fmt.Sprintf("kubectl kcp exports :%s lists those that you may bind", where))
}

// authConfigs checks the authentication configurations, which are beside the type.
func (c *checker) authConfigs(ctx context.Context, references []tenancyv1alpha1.AuthenticationConfigurationReference) error {
	if len(references) == 0 {
		return nil
	}
	names, err := c.client.AuthenticationConfigurations(ctx, c.place.Path)
	switch {
	case apierrors.IsForbidden(err):
		c.note("authentication configurations were not checked: %s", run.Message(err))
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("this server does not serve authentication configurations in %s", c.place.Path)
	case err != nil:
		return err
	}
	for _, ref := range references {
		if slices.Contains(names, ref.Name) {
			continue
		}
		err := fmt.Errorf("authentication configuration %s not found in %s", ref.Name, c.place.Path)
		if meant := near.Names(ref.Name, names); len(meant) > 0 {
			return run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?")
		}
		return err
	}
	return nil
}
