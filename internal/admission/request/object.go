package request

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// As returns obj as a T. The result may share memory with obj and must not be changed.
func As[T any](obj runtime.Object) (*T, error) {
	switch o := any(obj).(type) {
	case *T:
		return o, nil
	case *unstructured.Unstructured:
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.GetKind(), misfit[T](o, err))
		}
		return typed, nil
	default:
		return nil, fmt.Errorf("an object of type %T cannot be read as %T", obj, new(T))
	}
}

// misfit returns why u is not a T, which err says without the name of the field.
func misfit[T any](u *unstructured.Unstructured, err error) error {
	content, marshalErr := json.Marshal(u.Object)
	if marshalErr != nil {
		return err
	}
	if named := json.Unmarshal(content, new(T)); named != nil {
		return named
	}
	return err
}

// SetMap makes value what is below fields in obj, which must be unstructured.
func SetMap(obj runtime.Object, value map[string]any, fields ...string) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("an object of type %T cannot be changed", obj)
	}
	return unstructured.SetNestedMap(u.Object, value, fields...)
}

// SetStrings makes values what is below fields in obj, which must be unstructured. No
// values remove the field.
func SetStrings[S ~string](obj runtime.Object, values []S, fields ...string) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("an object of type %T cannot be changed", obj)
	}
	if len(values) == 0 {
		unstructured.RemoveNestedField(u.Object, fields...)
		return nil
	}
	plain := make([]string, 0, len(values))
	for _, value := range values {
		plain = append(plain, string(value))
	}
	return unstructured.SetNestedStringSlice(u.Object, plain, fields...)
}
