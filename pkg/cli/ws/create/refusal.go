package create

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// mostAllowed is how many types are named that would not be refused.
const mostAllowed = 5

// refusal returns err, with which the server has refused to create the workspace in
// parent, in the words of somebody who can help: if it is the type, with those that may
// be used. What may not be read is left to the server's own words.
func (o *Options) refusal(ctx context.Context, c *client.Client, parent logicalcluster.Path, err error) error {
	ref := o.object.Spec.Type
	if ref == nil || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return o.above(ctx, c, parent, err)
	}
	source := typeref.NewSource(c)
	place, placeErr := source.Place(ctx, parent)
	if placeErr != nil {
		return o.above(ctx, c, parent, err)
	}
	child, resolveErr := source.Resolver().Resolve(ctx, place, *ref)
	if resolveErr != nil {
		return o.unknownType(source, err, resolveErr, *ref)
	}
	above, typeErr := source.Of(ctx, parent)
	if typeErr != nil || len(tenancy.Refusals(above, child)) == 0 {
		return err
	}
	return run.Hint(
		fmt.Errorf("workspace type %s is not allowed under %s (%s)", child.Type, parent, above.Type),
		allowedHere(source.Usable(ctx, place.Path, above)),
		fmt.Sprintf("kubectl kcp type can %s --under :%s", child.Type, parent))
}

// unknownType returns the server's error with the types that may have been meant.
func (o *Options) unknownType(source *typeref.Source, refused, unresolved error, ref tenancyv1alpha1.WorkspaceTypeReference) error {
	if !tenancy.IsUnresolved(unresolved) {
		return refused
	}
	// What is explained is the error of the server; the other one decides that it can be.
	var hints []string
	if explained := source.Explain(unresolved, ref); explained != nil {
		hints = run.Hints(explained)
	}
	return run.Hint(refused, hints...)
}

// allowedHere says which types may be used, and how many more there are.
func allowedHere(types []tenancy.Type) string {
	names := make([]string, 0, len(types))
	for _, t := range types {
		names = append(names, t.String())
	}
	switch {
	case len(names) == 0:
		return "no type that you can see is allowed here"
	case len(names) > mostAllowed:
		return fmt.Sprintf("allowed here: %s and %d more", strings.Join(names[:mostAllowed], ", "), len(names)-mostAllowed)
	default:
		return "allowed here: " + strings.Join(names, ", ")
	}
}
