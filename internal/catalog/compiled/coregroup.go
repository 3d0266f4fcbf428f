package compiled

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// allowCoreGroup makes the registries of version accept objects of the core group.
// Upstream's strategy expects "/v1" as their apiVersion, since it has no custom
// resources there. That the apiVersion is right has been checked by the request
// handlers by then.
func allowCoreGroup(version *Version, status rest.RESTUpdateStrategy) {
	store := version.Resource.Store
	if version.Status != nil {
		// Upstream's has a store of its own that cannot be reached.
		statusStore := *store
		statusStore.UpdateStrategy = coreUpdate{status}
		statusStore.ResetFieldsStrategy = status.(rest.ResetFieldsStrategy)
		version.Status = &coreStatus{store: &statusStore}
	}
	store.CreateStrategy = coreCreate{store.CreateStrategy}
	store.UpdateStrategy = coreUpdate{store.UpdateStrategy}
}

// coreCreate is a create strategy for the core group.
type coreCreate struct{ rest.RESTCreateStrategy }

// Validate implements rest.RESTCreateStrategy.
func (c coreCreate) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return withoutAPIVersion(c.RESTCreateStrategy.Validate(ctx, obj))
}

// coreUpdate is an update strategy for the core group.
type coreUpdate struct{ rest.RESTUpdateStrategy }

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (c coreUpdate) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return withoutAPIVersion(c.RESTUpdateStrategy.ValidateUpdate(ctx, obj, old))
}

func withoutAPIVersion(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Field == "apiVersion" })
}

// coreStatus is the status subresource of a resource in the core group.
type coreStatus struct{ store *registry.Store }

var (
	_ rest.Patcher             = (*coreStatus)(nil)
	_ rest.ResetFieldsStrategy = (*coreStatus)(nil)
)

// New implements rest.Storage.
func (s *coreStatus) New() runtime.Object { return s.store.New() }

// Destroy implements rest.Storage. The store belongs to the resource.
func (s *coreStatus) Destroy() {}

// Get implements rest.Getter.
func (s *coreStatus) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update implements rest.Updater. A subresource never creates its object.
func (s *coreStatus) Update(ctx context.Context, name string, obj rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, obj, createValidation, updateValidation, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (s *coreStatus) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}
