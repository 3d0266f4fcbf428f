package compiled

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// allowPathSegments makes a registry accept names that can stand in a URL, whatever else
// they are, as those of roles.
func allowPathSegments(store *registry.Store) {
	store.CreateStrategy = pathSegmentCreate{store.CreateStrategy}
}

// pathSegmentCreate is a create strategy for objects with such names. Only on creation
// does upstream's ask for a subdomain.
type pathSegmentCreate struct{ rest.RESTCreateStrategy }

// Validate implements rest.RESTCreateStrategy. That the name can stand in a URL is made
// sure of after it, for all kinds of objects. What the schema says of names stays in
// force.
func (c pathSegmentCreate) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	errs := c.RESTCreateStrategy.Validate(ctx, obj)
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return errs
	}
	subdomain := validation.NameIsDNSSubdomain(accessor.GetName(), false)
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == "metadata.name" && slices.Contains(subdomain, err.Detail)
	})
}
