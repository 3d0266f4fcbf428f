package compiled

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// lazyTypeConverter is the type converter of a definition, made on first use. Making
// it takes milliseconds, and many definitions are only ever read.
type lazyTypeConverter struct {
	converter func() (managedfields.TypeConverter, error)
}

func newLazyTypeConverter(crd *apiextensionsv1.CustomResourceDefinition) managedfields.TypeConverter {
	return lazyTypeConverter{converter: sync.OnceValues(func() (managedfields.TypeConverter, error) {
		converter, err := newTypeConverter(crd)
		if err != nil {
			return nil, fmt.Errorf("compiling the schema for field management of %s: %w", crd.Name, err)
		}
		return converter, nil
	})}
}

// ObjectToTyped implements managedfields.TypeConverter.
func (l lazyTypeConverter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	converter, err := l.converter()
	if err != nil {
		return nil, err
	}
	return converter.ObjectToTyped(obj, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (l lazyTypeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	converter, err := l.converter()
	if err != nil {
		return nil, err
	}
	return converter.TypedToObject(value)
}

func newTypeConverter(crd *apiextensionsv1.CustomResourceDefinition) (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{}
	for _, version := range crd.Spec.Versions {
		document, err := builder.BuildOpenAPIV3(crd, version.Name, builder.Options{})
		if err != nil {
			return nil, err
		}
		// The documents of all versions have the metadata types in common.
		for name, model := range document.Components.Schemas {
			models[name] = model
		}
	}
	return managedfields.NewTypeConverter(models, crd.Spec.PreserveUnknownFields)
}
