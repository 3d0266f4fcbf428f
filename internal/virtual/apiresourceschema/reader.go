package apiresourceschema

import (
	"context"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const kind = "APIResourceSchema"

// reader shows the schemas that a cluster has bound.
type reader struct {
	apis    APIs
	cluster logicalcluster.Name
}

// schemas returns the schemas that are bound and still there, sorted by name. There may
// be several of one name, of different providers.
func (r *reader) schemas(ctx context.Context) ([]*apisv1alpha1.APIResourceSchema, error) {
	bindings, err := r.apis.Bindings(ctx, r.cluster)
	if err != nil {
		return nil, err
	}
	var found []*apisv1alpha1.APIResourceSchema
	anyBound := false
	for i := range bindings {
		if bindings[i].Status.Phase != apisv1alpha2.APIBindingPhaseBound {
			continue
		}
		anyBound = true
		of, err := r.schemasOf(ctx, &bindings[i])
		if err != nil {
			return nil, err
		}
		found = append(found, of...)
	}
	if !anyBound {
		return nil, apierrors.NewNotFound(resource, "")
	}
	slices.SortStableFunc(found, func(a, b *apisv1alpha1.APIResourceSchema) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b *apisv1alpha1.APIResourceSchema) bool { return a.UID == b.UID }), nil
}

func (r *reader) schemasOf(ctx context.Context, binding *apisv1alpha2.APIBinding) ([]*apisv1alpha1.APIResourceSchema, error) {
	provider, err := logicalcluster.ParseName(binding.Status.APIExportClusterName)
	if err != nil {
		return nil, nil //nolint:nilerr // it has not been resolved: there is nothing behind it
	}
	var found []*apisv1alpha1.APIResourceSchema
	for _, bound := range binding.Status.BoundResources {
		s, err := r.apis.Schema(ctx, provider, bound.Schema.Name)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		case string(s.UID) == bound.Schema.UID:
			// Another one of this name is not what has been bound.
			found = append(found, s)
		}
	}
	return found, nil
}

// Get implements catalog.Reader.
func (r *reader) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	all, err := r.schemas(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Name == name {
			return show(s)
		}
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// NewList implements catalog.Reader.
func (*reader) NewList() runtime.Object { return newList() }

func newList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(apisv1alpha1.GroupVersion.WithKind(kind + "List"))
	return list
}

// List implements catalog.Reader.
func (r *reader) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	all, err := r.schemas(ctx)
	if err != nil {
		return nil, err
	}
	list, newest := newList(), uint64(0)
	for _, s := range all {
		if version, err := strconv.ParseUint(s.ResourceVersion, 10, 64); err == nil {
			newest = max(newest, version)
		}
		if !selects(options, s) {
			continue
		}
		shown, err := show(s)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *shown)
	}
	list.SetResourceVersion(strconv.FormatUint(newest, 10))
	return list, nil
}

// selects says whether a list with these options has a schema.
func selects(options *metainternalversion.ListOptions, s *apisv1alpha1.APIResourceSchema) bool {
	if options == nil {
		return true
	}
	if options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(s.Labels)) {
		return false
	}
	return options.FieldSelector == nil || options.FieldSelector.Matches(fields.Set{"metadata.name": s.Name})
}

// Watch implements catalog.Reader. There are no events but those of the beginning, for who
// asks for them.
func (r *reader) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	listed, err := r.List(ctx, options)
	if err != nil {
		return nil, err
	}
	list := listed.(*unstructured.UnstructuredList)
	if options == nil || options.SendInitialEvents == nil || !*options.SendInitialEvents {
		return watch.NewProxyWatcher(make(chan watch.Event)), nil
	}
	events := make(chan watch.Event, len(list.Items)+1)
	for i := range list.Items {
		events <- watch.Event{Type: watch.Added, Object: &list.Items[i]}
	}
	if options.AllowWatchBookmarks {
		end := &unstructured.Unstructured{}
		end.SetGroupVersionKind(apisv1alpha1.GroupVersion.WithKind(kind))
		end.SetResourceVersion(list.GetResourceVersion())
		end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		events <- watch.Event{Type: watch.Bookmark, Object: end}
	}
	return watch.NewProxyWatcher(events), nil
}

// ConvertToTable implements catalog.Reader. The form of tables is that of the definition.
func (*reader) ConvertToTable(context.Context, runtime.Object, runtime.Object) (*metav1.Table, error) {
	return nil, apierrors.NewMethodNotSupported(resource, "table")
}

// show returns a schema as clients see it.
func show(s *apisv1alpha1.APIResourceSchema) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	if err != nil {
		return nil, err
	}
	shown := &unstructured.Unstructured{Object: content}
	shown.SetGroupVersionKind(apisv1alpha1.GroupVersion.WithKind(kind))
	return shown, nil
}
