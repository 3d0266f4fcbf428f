package hooks

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterAnnotation is on every object that a workspace serves, and says which one. All
// LogicalClusters have the same name.
const clusterAnnotation = "kcp.io/cluster"

var logicalClusters = schema.GroupVersionKind{Group: "core.kcp.io", Version: "v1alpha1", Kind: "LogicalCluster"}

// waiting are the workspaces that wait for a type. There is one watch for each URL, however
// many they are.
type waiting struct {
	kind   Kind
	config *rest.Config
	kinds  Kinds

	mu      sync.Mutex
	ctx     context.Context
	queue   workqueue.TypedRateLimitingInterface[Cluster]
	wanted  sets.Set[string]
	running map[string]*endpoint
	// home is the logical cluster of the type, entry what workspaces wait for.
	home, entry string
}

// endpoint is a watch of the workspaces that are found at a URL.
type endpoint struct {
	url string
	// options are what the clients of all workspaces share: connections, and what kinds
	// there are.
	options client.Options
	config  *rest.Config
	found   cache.Store
	stop    context.CancelFunc
}

// start begins to put workspaces into queue. It is a controller-runtime source.
func (w *waiting) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[Cluster]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.queue = ctx, queue
	return w.settle()
}

// at says where the workspaces are found from now on, and what they wait for.
func (w *waiting) at(home, entry string, urls sets.Set[string]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.home, w.entry, w.wanted = home, entry, urls
	return w.settle()
}

// settle starts and ends watches. The caller holds mu.
func (w *waiting) settle() error {
	if w.queue == nil {
		return nil
	}
	for url, running := range w.running {
		if !w.wanted.Has(url) {
			running.stop()
			delete(w.running, url)
		}
	}
	for url := range w.wanted {
		if w.running[url] != nil {
			continue
		}
		started, err := w.follow(url)
		if err != nil {
			return err
		}
		w.running[url] = started
	}
	return nil
}

// follow watches the workspaces at a URL.
func (w *waiting) follow(url string) (*endpoint, error) {
	config := rest.CopyConfig(w.config)
	config.Host = url + "/clusters/*"
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	options := client.Options{Scheme: scheme.Scheme, HTTPClient: connections, Mapper: mapper(w.kinds)}
	everywhere, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	lists := unstreamed{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := newList()
			return list, everywhere.List(ctx, list, &client.ListOptions{Raw: &options})
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return everywhere.Watch(ctx, newList(), &client.ListOptions{Raw: &options})
		},
	}}
	ctx, stop := context.WithCancel(w.ctx)
	started := &endpoint{url: url, options: options, config: config, found: cache.NewStore(clusterKey), stop: stop}
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(logicalClusters)
	go cache.NewReflector(lists, expected, &queueing{started.found, w.queue}, 0).RunWithContext(ctx)
	return started, nil
}

// turn returns a workspace as the watch has it; nil if it does not wait any more.
func (w *waiting) turn(cluster Cluster) (*Turn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, running := range w.running {
		found, ok, err := running.found.GetByKey(string(cluster))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		logicalCluster, _ := found.(*unstructured.Unstructured)
		here, err := running.in(cluster)
		return &Turn{
			Client: here, Cluster: string(cluster), Home: w.home,
			kind: w.kind, entry: w.entry, logicalCluster: logicalCluster.DeepCopy(),
		}, err
	}
	return nil, nil
}

// in returns a client for one workspace. Its URL is that of all of them with its own name in
// place of the star.
func (e *endpoint) in(cluster Cluster) (client.Client, error) {
	config := rest.CopyConfig(e.config)
	config.Host = e.url + "/clusters/" + string(cluster)
	return client.New(config, e.options)
}

// mapper knows the kinds that the controller works with. Discovery would take rules in the
// type, and tell nothing new.
func mapper(kinds Kinds) meta.RESTMapper {
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(logicalClusters, meta.RESTScopeRoot)
	for kind, scope := range kinds {
		known.Add(kind, scope)
	}
	return known
}

func newList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(logicalClusters.GroupVersion().WithKind("LogicalClusterList"))
	return list
}

func clusterKey(obj any) (string, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	logicalCluster, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return "", fmt.Errorf("not a LogicalCluster but a %T", obj)
	}
	return logicalCluster.GetAnnotations()[clusterAnnotation], nil
}

// queueing is a store that puts what comes and changes in it into a queue. What goes does
// not wait any more.
type queueing struct {
	cache.Store
	queue workqueue.TypedRateLimitingInterface[Cluster]
}

// Add stores a workspace.
func (q *queueing) Add(obj any) error { return q.then(q.Store.Add(obj), obj) }

// Update stores a workspace anew.
func (q *queueing) Update(obj any) error { return q.then(q.Store.Update(obj), obj) }

// Replace stores all workspaces there are, at the start and after a gap.
func (q *queueing) Replace(objects []any, version string) error {
	return q.then(q.Store.Replace(objects, version), objects...)
}

func (q *queueing) then(err error, objects ...any) error {
	if err != nil {
		return err
	}
	for _, obj := range objects {
		cluster, err := clusterKey(obj)
		if err != nil {
			return err
		}
		q.queue.Add(Cluster(cluster))
	}
	return nil
}

// unstreamed are lists that come in one piece. Reflectors that stream a list keep what they
// get by namespace and name until it is complete, which is one object of all that have the
// same in different workspaces.
type unstreamed struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what reflectors ask.
func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }
