package homes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// reader shows one home, by any name. It can be got, and neither be listed nor watched.
type reader struct{ workspace *tenancyv1alpha1.Workspace }

// Get implements catalog.Reader.
func (r *reader) Get(context.Context, string, *metav1.GetOptions) (runtime.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.workspace)
	if err != nil {
		return nil, err
	}
	shown := &unstructured.Unstructured{Object: content}
	shown.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	return shown, nil
}

// NewList implements catalog.Reader.
func (*reader) NewList() runtime.Object { return &unstructured.UnstructuredList{} }

// List implements catalog.Reader.
func (*reader) List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error) {
	return nil, apierrors.NewMethodNotSupported(tenancyv1alpha1.Resource("workspaces"), "list")
}

// Watch implements catalog.Reader.
func (*reader) Watch(context.Context, *metainternalversion.ListOptions) (watch.Interface, error) {
	return nil, apierrors.NewMethodNotSupported(tenancyv1alpha1.Resource("workspaces"), "watch")
}

// ConvertToTable implements catalog.Reader. The form of tables is that of the definition.
func (*reader) ConvertToTable(context.Context, runtime.Object, runtime.Object) (*metav1.Table, error) {
	return nil, apierrors.NewMethodNotSupported(tenancyv1alpha1.Resource("workspaces"), "table")
}
