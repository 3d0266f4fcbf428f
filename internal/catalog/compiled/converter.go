package compiled

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog/structural"
	"github.com/forkless/kcp/internal/schema"
)

// Converter converts between the versions of a definition within this process, instead
// of what the definition names as its strategy.
type Converter interface {
	// Convert returns objects, in the same order, in the version to. They are in other
	// versions of the definition, not necessarily all in the same, and it may change and
	// return what it is given. Errors that are Statuses reach clients as they are.
	//
	// Field management converts what is left of an object without the fields that belong
	// to others, so an object may lack what its schema requires. What the schema of the
	// version to does not know may be left in; it is pruned.
	//
	// It may be called concurrently.
	Convert(objects []*unstructured.Unstructured, to apischema.GroupVersion) ([]*unstructured.Unstructured, error)
}

// convertor is a Converter as request scopes and field managers use it. Upstream's
// convertor below knows which fields can be selected by, and Scales.
type convertor struct {
	runtime.ObjectConvertor
	converter  Converter
	definition *schema.Definition
	schemas    *structural.Schemas
	// copies makes it leave its input alone.
	copies bool
}

// newConvertors returns converter in the two forms that request scopes need.
func newConvertors(upstream runtime.ObjectConvertor, converter Converter, definition *schema.Definition, schemas *structural.Schemas) (safe, unsafe runtime.ObjectConvertor) {
	c := convertor{ObjectConvertor: upstream, converter: converter, definition: definition, schemas: schemas}
	copying := c
	copying.copies = true
	return copying, c
}

// Convert implements runtime.ObjectConvertor.
func (c convertor) Convert(in, out, context any) error {
	from, ok := in.(*unstructured.Unstructured)
	if !ok {
		return c.ObjectConvertor.Convert(in, out, context)
	}
	to, ok := out.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("converting into %T instead of an unstructured object", out)
	}
	converted, err := c.ConvertToVersion(from, to.GroupVersionKind().GroupVersion())
	if err != nil {
		return err
	}
	to.Object = converted.(*unstructured.Unstructured).Object
	return nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c convertor) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]apischema.GroupVersionKind{kind})
	if !ok {
		return nil, fmt.Errorf("%s cannot be converted to %q", kind, target)
	}
	switch object := in.(type) {
	case *unstructured.Unstructured:
		if c.copies {
			object = object.DeepCopy()
		}
		objects := []*unstructured.Unstructured{object}
		if err := c.convert(objects, to.GroupVersion()); err != nil {
			return nil, err
		}
		return objects[0], nil
	case *unstructured.UnstructuredList:
		if c.copies {
			object = object.DeepCopy()
		}
		return object, c.convertList(object, to)
	default:
		return c.ObjectConvertor.ConvertToVersion(in, target)
	}
}

func (c convertor) convertList(list *unstructured.UnstructuredList, to apischema.GroupVersionKind) error {
	objects := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		objects[i] = &list.Items[i]
	}
	if err := c.convert(objects, to.GroupVersion()); err != nil {
		return err
	}
	for i, object := range objects {
		list.Items[i] = *object
	}
	list.SetGroupVersionKind(to)
	return nil
}

// convert replaces those of objects that are not in the version to.
func (c convertor) convert(objects []*unstructured.Unstructured, to apischema.GroupVersion) error {
	if err := c.check(to); err != nil {
		return err
	}
	var others []*unstructured.Unstructured
	var at []int
	for i, object := range objects {
		from := object.GroupVersionKind().GroupVersion()
		if from == to {
			continue
		}
		if err := c.check(from); err != nil {
			return err
		}
		others, at = append(others, object), append(at, i)
	}
	if len(others) == 0 {
		return nil
	}
	converted, err := c.converter.Convert(others, to)
	if err != nil {
		return err
	}
	if len(converted) != len(at) {
		return fmt.Errorf("conversion to %s returned %d objects for %d", to, len(converted), len(at))
	}
	for i, object := range converted {
		// Field management refuses what a schema does not know.
		if !c.schemas.Coerced(to.Version, object.Object) {
			if _, err := c.schemas.Coerce(object, structural.Options{}); err != nil {
				return fmt.Errorf("converting to %s: %w", to, err)
			}
		}
		objects[at[i]] = object
	}
	return nil
}

// check returns an error if the definition does not have version.
func (c convertor) check(version apischema.GroupVersion) error {
	if version.Group != c.definition.CRD.Spec.Group || c.definition.Version(version.Version) == nil {
		return fmt.Errorf("definition %s has no version %s", c.definition.CRD.Name, version)
	}
	return nil
}
