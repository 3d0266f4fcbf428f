package apiversions

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// The resources with two versions.
var (
	exports  = v1alpha2.Resource("apiexports")
	bindings = v1alpha2.Resource("apibindings")
)

// Converter converts unstructured objects of one of the kinds.
type Converter struct {
	old, latest func(*unstructured.Unstructured) (runtime.Object, error)
	// hasSpec says that the Go types of the kind have a spec even if the object has none.
	hasSpec bool
}

// For returns the converter of a resource. ok is false for resources that have one version
// only.
func For(resource schema.GroupResource) (converter *Converter, ok bool) {
	switch resource {
	case exports:
		return &Converter{
			old: func(u *unstructured.Unstructured) (runtime.Object, error) {
				in, err := read[v1alpha2.APIExport](u)
				if err != nil {
					return nil, err
				}
				return ExportToV1alpha1(in), nil
			},
			latest: func(u *unstructured.Unstructured) (runtime.Object, error) { return Export(u) },
		}, true
	case bindings:
		return &Converter{
			hasSpec: true,
			old: func(u *unstructured.Unstructured) (runtime.Object, error) {
				in, err := read[v1alpha2.APIBinding](u)
				if err != nil {
					return nil, err
				}
				return BindingToV1alpha1(in), nil
			},
			latest: func(u *unstructured.Unstructured) (runtime.Object, error) { return Binding(u) },
		}, true
	default:
		return nil, false
	}
}

// Export returns the export that u is in either version, in v1alpha2.
func Export(u *unstructured.Unstructured) (*v1alpha2.APIExport, error) {
	if u.GroupVersionKind().Version != v1alpha1.GroupVersion.Version {
		return read[v1alpha2.APIExport](u)
	}
	in, err := read[v1alpha1.APIExport](u)
	if err != nil {
		return nil, err
	}
	return ExportToV1alpha2(in)
}

// Binding returns the binding that u is in either version, in v1alpha2.
func Binding(u *unstructured.Unstructured) (*v1alpha2.APIBinding, error) {
	if u.GroupVersionKind().Version != v1alpha1.GroupVersion.Version {
		return read[v1alpha2.APIBinding](u)
	}
	in, err := read[v1alpha1.APIBinding](u)
	if err != nil {
		return nil, err
	}
	return BindingToV1alpha2(in)
}

func read[T any](u *unstructured.Unstructured) (*T, error) {
	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, fmt.Errorf("reading %s: %w", u.GetKind(), err)
	}
	return out, nil
}

// Convert returns objects, in the same order, in the version to. What cannot be understood
// is a BadRequest Status.
func (c *Converter) Convert(objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	convert := c.latest
	switch to {
	case v1alpha1.GroupVersion:
		convert = c.old
	case v1alpha2.GroupVersion:
	default:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("there is no version %s", to))
	}
	out := make([]*unstructured.Unstructured, len(objects))
	for i, u := range objects {
		if u.GroupVersionKind().GroupVersion() == to {
			out[i] = u
			continue
		}
		typed, err := convert(u)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		if err != nil {
			return nil, fmt.Errorf("converting %s to %s: %w", u.GetKind(), to, err)
		}
		if _, ok := u.Object["spec"]; !ok && c.hasSpec {
			// It is what field management has left of an object.
			delete(content, "spec")
		}
		out[i] = &unstructured.Unstructured{Object: content}
	}
	return out, nil
}
