package kcptest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/forkless/kcp/internal/apply"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Source is where objects come from that Apply applies: Files, FS, YAML or Objects.
type Source struct {
	read func() ([]apply.Manifest, error)
}

// Files are the objects in files, and in those of directories that end in .yaml, .yml or
// .json: in the order of paths, and in a directory by name. Directories in directories are
// left out, as with kubectl.
func Files(paths ...string) Source {
	return Source{func() ([]apply.Manifest, error) {
		var all []apply.Manifest
		for _, path := range paths {
			manifests, err := apply.Read(path)
			if err != nil {
				return nil, err
			}
			all = append(all, manifests...)
		}
		return all, nil
	}}
}

// FS are the objects in all files of a file system that end in .yaml, .yml or .json, by
// path: what go:embed yields.
func FS(fsys fs.FS) Source {
	return Source{func() ([]apply.Manifest, error) { return apply.ReadFS(fsys) }}
}

// YAML are the objects in documents of YAML or JSON.
func YAML(documents string) Source {
	return Source{func() ([]apply.Manifest, error) { return apply.Parse("YAML", []byte(documents)) }}
}

// Objects are objects that are at hand. Those that do not say of which kind they are have
// to be of a type of Kubernetes or kcp.
func Objects(objects ...runtime.Object) Source {
	return Source{func() ([]apply.Manifest, error) {
		var all []apply.Manifest
		for i, object := range objects {
			u, err := toUnstructured(object)
			if err != nil {
				return nil, fmt.Errorf("object %d: %w", i+1, err)
			}
			all = append(all, apply.Manifest{Source: "Objects", Document: i + 1, Object: u})
		}
		return all, nil
	}}
}

// known are the types that Objects knows the kinds of.
var known = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensionsv1.AddToScheme, apisv1alpha1.AddToScheme, apisv1alpha2.AddToScheme, tenancyv1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
})

func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	kind, err := kindOf(object)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kind)
	return u, nil
}

func kindOf(object runtime.Object) (schema.GroupVersionKind, error) {
	// A pointer to nothing is an object, too, whose kind cannot even be asked for.
	if v := reflect.ValueOf(object); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return schema.GroupVersionKind{}, errors.New("it is nil")
	}
	if kind := object.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		return kind, nil
	}
	kinds, _, err := known().ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}

// Apply applies objects in their order, by server-side apply, and waits after each until
// the next may rely on it: a CustomResourceDefinition is served, an APIExport has its
// identity, what an APIBinding binds is served, a Workspace is ready.
func (w *Workspace) Apply(t testing.TB, sources ...Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.ApplyContext(ctx, sources...); err != nil {
		t.Fatal(err)
	}
}

// ApplyContext is Apply for those who are no test. Nothing is applied if something cannot
// be read.
func (w *Workspace) ApplyContext(ctx context.Context, sources ...Source) error {
	var all []apply.Manifest
	for _, source := range sources {
		if source.read == nil {
			return errors.New("a Source without anything: use Files, FS, YAML or Objects")
		}
		manifests, err := source.read()
		if err != nil {
			return err
		}
		all = append(all, manifests...)
	}
	applier, err := apply.New(w.Config())
	if err != nil {
		return err
	}
	return applier.Apply(ctx, all...)
}

// Bind binds the APIExport of a name in the workspace at path, accepts all its claims, and
// waits until what it brings is served.
func (w *Workspace) Bind(t testing.TB, path, export string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.BindContext(ctx, path, export); err != nil {
		t.Fatal(err)
	}
}

// BindContext is Bind for those who are no test.
func (w *Workspace) BindContext(ctx context.Context, path, export string) error {
	applier, err := apply.New(w.Config())
	if err != nil {
		return err
	}
	return applier.Bind(ctx, path, export)
}
