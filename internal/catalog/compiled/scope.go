package compiled

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/client-go/scale/scheme/autoscalingv1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// addScopes makes the request scopes of version. Its registries exist already.
func (a *API) addScopes(version *Version, spec *apiextensionsv1.CustomResourceDefinitionVersion) error {
	base := a.scope(version, spec)
	scope, err := a.withFieldManager(base, "", version.Resource.GetResetFields())
	if err != nil {
		return err
	}
	version.Scope = scope
	if hasStatus(spec) {
		status := *base
		status.Subresource = "status"
		if version.StatusScope, err = a.withFieldManager(&status, status.Subresource, a.statusResetFields()); err != nil {
			return err
		}
	}
	if hasScale(spec) {
		scale := *base
		scale.Subresource = "scale"
		scale.Kind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")
		scale.Serializer = newScaleSerializer()
		if scale.TableConvertor, err = tableconvertor.New(scaleColumns(spec.Subresources.Scale)); err != nil {
			return fmt.Errorf("columns of the scale subresource: %w", err)
		}
		if version.ScaleScope, err = a.withFieldManager(&scale, scale.Subresource, nil); err != nil {
			return err
		}
	}
	return nil
}

// scope returns the request scope of the resource, without a field manager.
func (a *API) scope(version *Version, spec *apiextensionsv1.CustomResourceDefinitionVersion) *handlers.RequestScope {
	kind := a.definition.GroupKind().WithVersion(spec.Name)
	parameters := parameterScheme(kind.GroupVersion())
	typer := newTyper(kind.GroupVersion())
	serializer := newNegotiatedSerializer(a.schemas, a.converter, typer)
	return &handlers.RequestScope{
		Namer: handlers.ContextBasedNaming{
			Namer:         meta.NewAccessor(),
			ClusterScoped: !a.definition.Namespaced(),
		},
		Serializer:          serializer,
		ParameterCodec:      runtime.NewParameterCodec(parameters),
		StandardSerializers: serializer.standard(),

		Creater:         creator{},
		Convertor:       a.converter,
		Defaulter:       defaulter{delegate: parameters, schemas: a.schemas},
		Typer:           typer,
		UnsafeConvertor: a.unsafe,

		EquivalentResourceMapper: a.equivalents,

		Resource: a.definition.GroupResource().WithVersion(spec.Name),
		Kind:     kind,
		// Objects are in memory in the version they are asked for in.
		HubGroupVersion:  kind.GroupVersion(),
		MetaGroupVersion: metav1.SchemeGroupVersion,

		TableConvertor:      version.Resource,
		Authorizer:          a.config.Authorizer,
		MaxRequestBodyBytes: a.config.MaxRequestBodyBytes,
	}
}

// withFieldManager gives scope a field manager, which does not count the reset fields
// as changed by whoever writes to the subresource.
func (a *API) withFieldManager(scope *handlers.RequestScope, subresource string, resetFields map[fieldpath.APIVersion]*fieldpath.Set) (*handlers.RequestScope, error) {
	manager, err := managedfields.NewDefaultCRDFieldManager(
		a.typeConverter,
		scope.Convertor,
		scope.Defaulter,
		scope.Creater,
		scope.Kind,
		scope.HubGroupVersion,
		subresource,
		fieldpath.NewExcludeFilterSetMap(resetFields),
	)
	if err != nil {
		return nil, fmt.Errorf("making field manager: %w", err)
	}
	scope.FieldManager = manager
	return scope, nil
}

// statusResetFields returns what a write to the status subresource cannot change, in
// all versions: somebody's fields may have been managed in another one.
func (a *API) statusResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	fields := map[fieldpath.APIVersion]*fieldpath.Set{}
	for i := range a.definition.CRD.Spec.Versions {
		version := &a.definition.CRD.Spec.Versions[i]
		if !hasStatus(version) {
			continue
		}
		groupVersion := apischema.GroupVersion{Group: a.definition.CRD.Spec.Group, Version: version.Name}
		fields[fieldpath.APIVersion(groupVersion.String())] = fieldpath.NewSet(
			fieldpath.MakePathOrDie("metadata"),
			fieldpath.MakePathOrDie("spec"),
		)
	}
	return fields
}
