package compiled

import (
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

var (
	// Scheme knows what passes over the URLs of custom resources beside custom
	// resources: options, errors, watch events.
	Scheme = newScheme()

	// Codecs encode and decode what Scheme knows.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	v1 := apischema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1, &metav1.Status{}, &metav1.WatchEvent{})
	return scheme
}

// parameterScheme knows the options of requests as types of groupVersion.
func parameterScheme(groupVersion apischema.GroupVersion) *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddUnversionedTypes(groupVersion, &metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.DeleteOptions{})
	return scheme
}

// typer knows unstructured objects by what they say they are, and the options of
// requests by their type.
type typer struct {
	options      runtime.ObjectTyper
	unstructured runtime.ObjectTyper
}

func newTyper(groupVersion apischema.GroupVersion) typer {
	return typer{
		options:      parameterScheme(groupVersion),
		unstructured: crdserverscheme.NewUnstructuredObjectTyper(),
	}
}

// ObjectKinds implements runtime.ObjectTyper.
func (t typer) ObjectKinds(obj runtime.Object) ([]apischema.GroupVersionKind, bool, error) {
	if _, ok := obj.(runtime.Unstructured); ok {
		return t.unstructured.ObjectKinds(obj)
	}
	return t.options.ObjectKinds(obj)
}

// Recognizes implements runtime.ObjectTyper.
func (t typer) Recognizes(gvk apischema.GroupVersionKind) bool {
	return t.options.Recognizes(gvk) || t.unstructured.Recognizes(gvk)
}

// creator makes unstructured objects of any kind.
type creator struct{}

// New implements runtime.ObjectCreater.
func (creator) New(kind apischema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}
