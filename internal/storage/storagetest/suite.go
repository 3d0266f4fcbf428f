// Package storagetest runs upstream's exported storage suite against a store of the
// tenancy seam: what holds for a store of Kubernetes has to hold for the objects of
// one cluster, whatever other clusters hold beside them.
package storagetest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	apistorage "k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Pods is the resource that the suite uses.
var Pods = storage.Resource{GroupResource: schema.GroupResource{Resource: "pods"}}

// suitePrefix is how the suite's keys begin.
const suitePrefix = "/pods"

// Kind returns the Kind of the suite's pods.
func Kind() storage.Kind {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return storage.Kind{
		New:     func() runtime.Object { return &example.Pod{} },
		NewList: func() runtime.Object { return &example.PodList{} },
		Codec:   serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion),
		Attrs: func(obj runtime.Object) (labels.Set, fields.Set, error) {
			pod, ok := obj.(*example.Pod)
			if !ok {
				return nil, nil, fmt.Errorf("%T is no pod", obj)
			}
			return pod.Labels, fields.Set{
				"metadata.name":      pod.Name,
				"metadata.namespace": pod.Namespace,
				"spec.nodeName":      pod.Spec.NodeName,
			}, nil
		},
	}
}

// Run runs the suite; open returns a store of Pods that nobody has used, with a ready
// watch cache.
func Run(t *testing.T, open func(t *testing.T) apistorage.Interface) {
	noCheck := func(context.Context, *testing.T, string) {}
	for name, test := range map[string]func(context.Context, *testing.T, apistorage.Interface){
		"Create": func(ctx context.Context, t *testing.T, s apistorage.Interface) {
			storagetesting.RunTestCreate(ctx, t, s, noCheck)
		},
		"CreateWithTTL":                            storagetesting.RunTestCreateWithTTL,
		"CreateWithKeyExist":                       storagetesting.RunTestCreateWithKeyExist,
		"Get":                                      storagetesting.RunTestGet,
		"UnconditionalDelete":                      storagetesting.RunTestUnconditionalDelete,
		"ConditionalDelete":                        storagetesting.RunTestConditionalDelete,
		"DeleteWithSuggestion":                     storagetesting.RunTestDeleteWithSuggestion,
		"DeleteWithSuggestionAndConflict":          storagetesting.RunTestDeleteWithSuggestionAndConflict,
		"DeleteWithSuggestionOfDeletedObject":      storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
		"DeleteWithConflict":                       storagetesting.RunTestDeleteWithConflict,
		"ValidateDeletionWithSuggestion":           storagetesting.RunTestValidateDeletionWithSuggestion,
		"ValidateDeletionWithOnlySuggestionValid":  storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
		"PreconditionalDeleteWithSuggestion":       storagetesting.RunTestPreconditionalDeleteWithSuggestion,
		"PreconditionalDeleteWithOnlySuggestion":   storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
		"ListPaging":                               storagetesting.RunTestListPaging,
		"NamespaceScopedList":                      storagetesting.RunTestNamespaceScopedList,
		"GuaranteedUpdateWithTTL":                  storagetesting.RunTestGuaranteedUpdateWithTTL,
		"GuaranteedUpdateWithConflict":             storagetesting.RunTestGuaranteedUpdateWithConflict,
		"GuaranteedUpdateWithSuggestionConflict":   storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict,
		"Watch":                                    storagetesting.RunTestWatch,
		"DeleteTriggerWatch":                       storagetesting.RunTestDeleteTriggerWatch,
		"WatchFromNonZero":                         storagetesting.RunTestWatchFromNonZero,
		"DelayedWatchDelivery":                     storagetesting.RunTestDelayedWatchDelivery,
		"WatcherTimeout":                           storagetesting.RunTestWatcherTimeout,
		"WatchDeleteEventObjectHaveLatestRV":       storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
		"WatchInitializationSignal":                storagetesting.RunTestWatchInitializationSignal,
		"ClusterScopedWatch":                       storagetesting.RunTestClusterScopedWatch,
		"NamespaceScopedWatch":                     storagetesting.RunTestNamespaceScopedWatch,
		"WatchBookmarksWithCorrectResourceVersion": storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion,
		"WatchSemantics":                           storagetesting.RunWatchSemantics,
		"WatchSemanticInitialEventsExtended":       storagetesting.RunWatchSemanticInitialEventsExtended,
		"WatchListMatchSingle":                     storagetesting.RunWatchListMatchSingle,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := logicalcluster.NewContext(t.Context(), logicalcluster.MustParseName("tested"))
			test(ctx, t, &unmarked{open(t)})
		})
	}
}

// unmarked shows a store as the suite expects it: with its own key prefix, and without
// the annotation that the seam adds, since the suite compares whole objects.
type unmarked struct{ apistorage.Interface }

func (u *unmarked) key(key string) string {
	return Pods.Prefix() + strings.TrimPrefix(key, suitePrefix)
}

// inCluster puts the cluster into contexts that the suite makes itself.
func inCluster(ctx context.Context) context.Context {
	if _, ok := logicalcluster.FromContext(ctx); ok {
		return ctx
	}
	return logicalcluster.NewContext(ctx, logicalcluster.MustParseName("tested"))
}

func (u *unmarked) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := u.Interface.Create(inCluster(ctx), u.key(key), obj, out, ttl)
	unmark(obj)
	unmark(out)
	return err
}

func (u *unmarked) Get(ctx context.Context, key string, opts apistorage.GetOptions, out runtime.Object) error {
	err := u.Interface.Get(inCluster(ctx), u.key(key), opts, out)
	unmark(out)
	return err
}

func (u *unmarked) GetList(ctx context.Context, key string, opts apistorage.ListOptions, list runtime.Object) error {
	err := u.Interface.GetList(inCluster(ctx), u.key(key), opts, list)
	if err != nil {
		return err
	}
	return meta.EachListItem(list, func(obj runtime.Object) error {
		unmark(obj)
		return nil
	})
}

func (u *unmarked) Delete(ctx context.Context, key string, out runtime.Object, preconditions *apistorage.Preconditions,
	validate apistorage.ValidateObjectFunc, cached runtime.Object, opts apistorage.DeleteOptions,
) error {
	err := u.Interface.Delete(inCluster(ctx), u.key(key), out, preconditions, validate, cached, opts)
	unmark(out)
	return err
}

func (u *unmarked) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *apistorage.Preconditions, update apistorage.UpdateFunc, cached runtime.Object,
) error {
	err := u.Interface.GuaranteedUpdate(inCluster(ctx), u.key(key), out, ignoreNotFound, preconditions, update, cached)
	unmark(out)
	return err
}

func (u *unmarked) Watch(ctx context.Context, key string, opts apistorage.ListOptions) (watch.Interface, error) {
	w, err := u.Interface.Watch(inCluster(ctx), u.key(key), opts)
	if err != nil {
		return nil, err
	}
	return watch.Filter(w, func(event watch.Event) (watch.Event, bool) {
		unmark(event.Object)
		return event, true
	}), nil
}

func unmark(obj runtime.Object) {
	accessor, err := meta.Accessor(obj)
	if obj == nil || err != nil {
		return
	}
	// The map is shared with the watch cache.
	annotations := maps.Clone(accessor.GetAnnotations())
	delete(annotations, logicalcluster.AnnotationKey)
	if len(annotations) == 0 {
		annotations = nil
	}
	accessor.SetAnnotations(annotations)
}
