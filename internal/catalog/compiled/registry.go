package compiled

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/catalog/view"
)

// addRegistries makes upstream's registries of one version over the version's view of
// the shared store.
func (a *API) addRegistries(version *Version, spec *apiextensionsv1.CustomResourceDefinitionVersion) error {
	schemas := a.schemas.Version(spec.Name)
	validators, err := newValidators(schemas.Validation)
	if err != nil {
		return err
	}
	status, scale, err := subresources(spec.Subresources)
	if err != nil {
		return err
	}
	table, err := tableconvertor.New(columns(spec))
	if err != nil {
		// As upstream does: the columns it could make are served. The definition was
		// accepted, so its users get their objects.
		klog.V(2).InfoS("Printer columns are invalid", "definition", a.definition.CRD.Name, "version", spec.Name, "err", err)
	}
	if status == nil {
		validators.status = nil
	}

	names := &a.definition.CRD.Status.AcceptedNames
	group := a.definition.CRD.Spec.Group
	kind := a.definition.GroupKind().WithVersion(spec.Name)
	strategy := customresource.NewStrategy(
		newTyper(kind.GroupVersion()),
		a.definition.Namespaced(),
		kind,
		validators.object,
		validators.status,
		schemas.Structural,
		status,
		scale,
		spec.SelectableFields,
	)
	registries, err := customresource.NewStorage(
		apischema.GroupResource{Group: group, Resource: names.Plural},
		apischema.GroupResource{Group: group, Resource: names.Singular},
		kind,
		kind.GroupVersion().WithKind(names.ListKind),
		strategy,
		viewOptions{store: view.New(a.config.Shared, a.form(spec.Name)), prefix: a.config.Prefix, deleteWorkers: a.config.DeleteWorkers},
		names.Categories,
		table,
		a.replicasPaths,
	)
	if err != nil {
		return err
	}
	version.Resource = registries.CustomResource
	// A nil pointer in an interface would not be nil.
	if registries.Status != nil {
		version.Status = registries.Status
	}
	if registries.Scale != nil {
		version.Scale = registries.Scale
	}
	if a.definition.PathSegmentNames {
		allowPathSegments(version.Resource.Store)
	}
	if group == "" {
		allowCoreGroup(version, customresource.NewStatusStrategy(strategy))
	}
	return nil
}

// validators validate whole objects, and the status alone.
type validators struct{ object, status validation.SchemaValidator }

func newValidators(schema *apiextensions.CustomResourceValidation) (validators, error) {
	var result validators
	var properties *apiextensions.JSONSchemaProps
	if schema != nil {
		properties = schema.OpenAPIV3Schema
	}
	var err error
	if result.object, _, err = validation.NewSchemaValidator(properties); err != nil {
		return validators{}, fmt.Errorf("compiling validation: %w", err)
	}
	if properties == nil {
		return result, nil
	}
	if status, ok := properties.Properties["status"]; ok {
		if result.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return validators{}, fmt.Errorf("compiling validation of status: %w", err)
		}
	}
	return result, nil
}

func subresources(of *apiextensionsv1.CustomResourceSubresources) (
	status *apiextensions.CustomResourceSubresourceStatus, scale *apiextensions.CustomResourceSubresourceScale, err error,
) {
	if of == nil {
		return nil, nil, nil
	}
	internal := &apiextensions.CustomResourceSubresources{}
	if err := apiextensionsv1.Convert_v1_CustomResourceSubresources_To_apiextensions_CustomResourceSubresources(of, internal, nil); err != nil {
		return nil, nil, fmt.Errorf("converting subresources: %w", err)
	}
	return internal.Status, internal.Scale, nil
}

// viewOptions gives a registry a store that exists already.
type viewOptions struct {
	store         storage.Interface
	prefix        string
	deleteWorkers int
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o viewOptions) GetRESTOptions(resource apischema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{
			// The registry uses the codec to copy what a dry run would have stored.
			Config:        storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme},
			GroupResource: resource,
		},
		Decorator:               o.decorate,
		ResourcePrefix:          o.prefix,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: o.deleteWorkers,
	}, nil
}

// decorate ignores all it is told of the store to make. Destroying the registry leaves
// the store alone, it belongs to others as well.
func (o viewOptions) decorate(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error),
	func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return o.store, func() {}, nil
}

var _ generic.RESTOptionsGetter = viewOptions{}
