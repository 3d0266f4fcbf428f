package main

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterAnnotation is on every object that a workspace serves, and says which one.
const clusterAnnotation = "kcp.io/cluster"

// Request names an object of a consumer.
type Request struct {
	// Cluster is the logical cluster of the consumer.
	Cluster string
	types.NamespacedName
}

// consumers are the workspaces that have bound the export. There is one watch for each
// endpoint, however many they are.
type consumers struct {
	config *rest.Config
	scheme *runtime.Scheme

	mu      sync.Mutex
	ctx     context.Context
	queue   workqueue.TypedRateLimitingInterface[Request]
	wanted  sets.Set[string]
	running map[string]*endpoint
}

// endpoint is a watch of the consumers that are found at a URL.
type endpoint struct {
	url string
	// options are what the clients of all workspaces share: connections, and what
	// discovery has found.
	options client.Options
	config  *rest.Config
	objects cache.Store
	stop    context.CancelFunc
}

func newConsumers(config *rest.Config, scheme *runtime.Scheme) *consumers {
	return &consumers{config: config, scheme: scheme, running: map[string]*endpoint{}}
}

// start begins to put what changes into queue. It is a controller-runtime source.
func (c *consumers) start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[Request]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx, c.queue = ctx, queue
	return c.settle()
}

// at says where the consumers are found from now on.
func (c *consumers) at(urls sets.Set[string]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = urls
	return c.settle()
}

// settle starts and ends watches. The caller holds mu.
func (c *consumers) settle() error {
	if c.queue == nil {
		return nil
	}
	for url, running := range c.running {
		if !c.wanted.Has(url) {
			running.stop()
			delete(c.running, url)
		}
	}
	for url := range c.wanted {
		if c.running[url] != nil {
			continue
		}
		started, err := c.follow(url)
		if err != nil {
			return err
		}
		c.running[url] = started
	}
	return nil
}

// follow watches the Databases of all workspaces at a URL.
func (c *consumers) follow(url string) (*endpoint, error) {
	config := rest.CopyConfig(c.config)
	config.Host = url + "/clusters/*"
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	options := client.Options{Scheme: c.scheme, HTTPClient: connections}
	everywhere, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	options.Mapper = everywhere.RESTMapper()
	ctx, stop := context.WithCancel(c.ctx)
	started := &endpoint{url: url, options: options, config: config, objects: cache.NewStore(clusterKey), stop: stop}
	lists := unstreamed{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list := &DatabaseList{}
			return list, everywhere.List(ctx, list, &client.ListOptions{Raw: &options})
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return everywhere.Watch(ctx, &DatabaseList{}, &client.ListOptions{Raw: &options})
		},
	}}
	reflector := cache.NewReflector(lists, &Database{}, &queueing{started.objects, c.queue}, 0)
	go reflector.RunWithContext(ctx)
	return started, nil
}

// get returns a Database as the watch has it, and a client for its workspace; nil if it is
// gone.
func (c *consumers) get(request Request) (*Database, client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, running := range c.running {
		found, ok, err := running.objects.GetByKey(request.key())
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		here, err := running.in(request.Cluster)
		database, _ := found.(*Database)
		return database, here, err
	}
	return nil, nil, nil
}

// in returns a client for one consumer. Its URL is that of all of them with its own name in
// place of the star.
func (e *endpoint) in(cluster string) (client.Client, error) {
	config := rest.CopyConfig(e.config)
	config.Host = e.url + "/clusters/" + cluster
	return client.New(config, e.options)
}

// key is what the store knows an object by. Names are unique within a workspace only.
func (r Request) key() string { return r.Cluster + "|" + r.NamespacedName.String() }

func requestFor(obj any) (Request, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	database, ok := obj.(*Database)
	if !ok {
		return Request{}, fmt.Errorf("not a Database but a %T", obj)
	}
	return Request{Cluster: database.Annotations[clusterAnnotation], NamespacedName: client.ObjectKeyFromObject(database)}, nil
}

// sameGeneration says whether two states of an object ask for the same.
func sameGeneration(before, after any) bool {
	was, _ := before.(*Database)
	is, _ := after.(*Database)
	return was != nil && is != nil && was.UID == is.UID && was.Generation == is.Generation
}

func clusterKey(obj any) (string, error) {
	request, err := requestFor(obj)
	return request.key(), err
}

// queueing is a store that puts what changes in it into a queue.
type queueing struct {
	cache.Store
	queue workqueue.TypedRateLimitingInterface[Request]
}

// Add stores an object.
func (q *queueing) Add(obj any) error { return q.then(q.Store.Add(obj), obj) }

// Update stores an object anew. Where nothing but its status has changed it was the
// controller who did that, since tenants may not.
func (q *queueing) Update(obj any) error {
	before, known, err := q.Get(obj)
	if err != nil {
		return err
	}
	if err := q.Store.Update(obj); err != nil {
		return err
	}
	if known && sameGeneration(before, obj) {
		return nil
	}
	return q.then(nil, obj)
}

// Delete forgets an object.
func (q *queueing) Delete(obj any) error { return q.then(q.Store.Delete(obj), obj) }

// Replace stores all objects there are, at the start and after a gap. Those that have gone
// in between are looked at too.
func (q *queueing) Replace(objects []any, version string) error {
	before := q.List()
	return q.then(q.Store.Replace(objects, version), append(before, objects...)...)
}

func (q *queueing) then(err error, objects ...any) error {
	if err != nil {
		return err
	}
	for _, obj := range objects {
		request, err := requestFor(obj)
		if err != nil {
			return err
		}
		q.queue.Add(request)
	}
	return nil
}

// unstreamed are lists that come in one piece. Reflectors that stream a list keep what they
// get by namespace and name until it is complete, which is one object of all that have the
// same in different workspaces.
type unstreamed struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is what reflectors ask.
func (unstreamed) IsWatchListSemanticsUnSupported() bool { return true }
