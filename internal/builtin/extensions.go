package builtin

import (
	"context"

	apiextensionsapi "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/schema"
)

// apiextensions serves definitions as objects. What they define is served elsewhere.
func apiextensions(config *Config, _ *shared) (storages, error) {
	definitions, err := customresourcedefinition.NewREST(ExtensionsScheme, config.RESTOptions)
	if err != nil {
		return nil, err
	}
	definitions.CreateStrategy = createDefinition{definitions.CreateStrategy}
	definitions.UpdateStrategy = updateDefinition{definitions.UpdateStrategy}
	return storages{
		"customresourcedefinitions":        definitions,
		"customresourcedefinitions/status": customresourcedefinition.NewStatusREST(ExtensionsScheme, definitions),
	}, nil
}

// createDefinition validates new definitions as upstream does, but for the group.
type createDefinition struct{ rest.RESTCreateStrategy }

// Validate implements rest.RESTCreateStrategy.
func (s createDefinition) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return tolerateGroup(obj, s.RESTCreateStrategy.Validate(ctx, obj))
}

// updateDefinition validates changed definitions as upstream does, but for the group.
type updateDefinition struct{ rest.RESTUpdateStrategy }

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s updateDefinition) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return tolerateGroup(obj, s.RESTUpdateStrategy.ValidateUpdate(ctx, obj, old))
}

// tolerateGroup removes what upstream says against a group of Kubernetes without a dot. Its other
// rules about groups stay: that one cannot be changed, say.
func tolerateGroup(obj runtime.Object, errs field.ErrorList) field.ErrorList {
	crd, ok := obj.(*apiextensionsapi.CustomResourceDefinition)
	if !ok || !schema.MayLackDot(crd.Spec.Group) {
		return errs
	}
	var remaining field.ErrorList
	for _, err := range errs {
		if err.Field != "spec.group" || err.Detail != "should be a domain with at least one dot" {
			remaining = append(remaining, err)
		}
	}
	return remaining
}
