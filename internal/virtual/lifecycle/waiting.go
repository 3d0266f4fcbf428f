package lifecycle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// waiting are the LogicalClusters that wait for a hook, as a catalog.Reader.
type waiting struct {
	catalog.Reader
	hook tenancy.Hook
}

// Get implements catalog.Reader. What does not wait is not there.
func (w *waiting) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	found, err := w.Reader.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	lc, err := read(found)
	if err != nil {
		return nil, err
	}
	if !w.hook.ActiveIn(lc) {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return found, nil
}

// List implements catalog.Reader.
func (w *waiting) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	options, err := w.selecting(options)
	if err != nil {
		return nil, err
	}
	if w.hook.Kind == tenancy.Terminating {
		deleted := fields.OneTermEqualSelector(cached.DeletedField, "true")
		if options.FieldSelector != nil {
			deleted = fields.AndSelectors(options.FieldSelector, deleted)
		}
		options.FieldSelector = deleted
	}
	return w.Reader.List(ctx, options)
}

// Watch implements catalog.Reader. Terminators are in the labels of a logical cluster from
// its beginning on; it is seen when it is being deleted, which is when it is modified.
func (w *waiting) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	options, err := w.selecting(options)
	if err != nil {
		return nil, err
	}
	watched, err := w.Reader.Watch(ctx, options)
	if err != nil || w.hook.Kind == tenancy.Initializing {
		return watched, err
	}
	return watch.Filter(watched, ofDeleted), nil
}

// ofDeleted drops events of objects that are not being deleted.
func ofDeleted(event watch.Event) (watch.Event, bool) {
	if event.Type == watch.Bookmark || event.Type == watch.Error {
		return event, true
	}
	accessor, err := meta.Accessor(event.Object)
	return event, err != nil || accessor.GetDeletionTimestamp() != nil
}

// selecting returns options that select what has the labels of what waits for the hook as
// well.
func (w *waiting) selecting(options *metainternalversion.ListOptions) (*metainternalversion.ListOptions, error) {
	selecting := &metainternalversion.ListOptions{}
	if options != nil {
		selecting = options.DeepCopy()
	}
	if selecting.LabelSelector == nil {
		selecting.LabelSelector = labels.Everything()
	}
	key, value := w.hook.Label()
	required := map[string]string{key: value}
	if w.hook.Kind == tenancy.Initializing {
		required[tenancyv1alpha1.PhaseLabelKey] = string(corev1alpha1.PhaseInitializing)
	}
	for key, value := range required {
		requirement, err := labels.NewRequirement(key, selection.Equals, []string{value})
		if err != nil {
			return nil, fmt.Errorf("selecting what waits for %s: %w", w.hook.ID, err)
		}
		selecting.LabelSelector = selecting.LabelSelector.Add(*requirement)
	}
	return selecting, nil
}

// read returns an unstructured LogicalCluster as its Go type.
func read(object runtime.Object) (*corev1alpha1.LogicalCluster, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%T is not an unstructured object", object)
	}
	lc := &corev1alpha1.LogicalCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, lc); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return lc, nil
}

// show returns a LogicalCluster as clients see it.
func show(lc *corev1alpha1.LogicalCluster) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(lc)
	if err != nil {
		return nil, err
	}
	shown := &unstructured.Unstructured{Object: content}
	shown.SetGroupVersionKind(kind)
	return shown, nil
}
