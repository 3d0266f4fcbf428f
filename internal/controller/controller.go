package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Key names an object in a cluster.
type Key struct {
	Cluster logicalcluster.Name
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	Name      string
}

// String returns the key as it stands in logs: cluster|namespace/name.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Cluster.String() + "|" + k.Name
	}
	return k.Cluster.String() + "|" + k.Namespace + "/" + k.Name
}

// Reconcile brings the object of a key closer to what it should be.
type Reconcile func(ctx context.Context, key Key) error

// Options describe a controller.
type Options struct {
	// Name appears in logs and in the list of readiness checks.
	Name string
	// Workers is how many keys are reconciled at a time; 1 if 0.
	Workers int
	// Sources are what the controller watches. Without any, it hears of keys through
	// Enqueue only, and is synced from the start.
	Sources []Source
	// Reconcile does the work.
	Reconcile Reconcile
}

// Controller runs a Reconcile function whenever a source says so.
type Controller struct {
	options Options
	queue   workqueue.TypedRateLimitingInterface[Key]
	lanes   *lanes
	synced  chan struct{}
	// pending counts what has to happen before the controller is synced: a source
	// that has not delivered all, or a key of the start not yet reconciled.
	pending pending
}

// New returns a controller that does nothing until Run.
func New(options Options) *Controller {
	options.Workers = max(options.Workers, 1)
	lanes := newLanes()
	c := &Controller{options: options, lanes: lanes, queue: newQueue(lanes), synced: make(chan struct{})}
	c.pending.keys = map[Key]struct{}{}
	c.pending.sources = len(options.Sources)
	c.pending.done = sync.OnceFunc(func() { close(c.synced) })
	c.pending.check()
	return c
}

func newQueue(lanes *lanes) workqueue.TypedRateLimitingInterface[Key] {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Queue: lanes})
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[Key](firstRetry, lastRetry),
		workqueue.TypedRateLimitingQueueConfig[Key]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Queue: queue}),
		})
}

// Name returns the name of the controller.
func (c *Controller) Name() string { return c.options.Name }

// Synced is closed when everything that existed at the start has been looked at.
func (c *Controller) Synced() <-chan struct{} { return c.synced }

// Enqueue makes the controller look at a key.
func (c *Controller) Enqueue(key Key) { c.enqueue(key, false) }

func (c *Controller) enqueue(key Key, patient bool) {
	c.lanes.mark(key, patient)
	c.queue.Add(key)
}

// EnqueueAfter makes the controller look at a key after d. However often it is called
// meanwhile, that is one look.
func (c *Controller) EnqueueAfter(key Key, d time.Duration) { c.queue.AddAfter(key, d) }

// Run watches and works until ctx ends, and returns when all goroutines have.
func (c *Controller) Run(ctx context.Context) {
	var wait sync.WaitGroup
	for _, source := range c.options.Sources {
		wait.Go(func() { c.follow(ctx, source) })
	}
	for range c.options.Workers {
		wait.Go(func() {
			for c.work(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
	wait.Wait()
}

// Close gives back what a controller takes that was never run. Run does so by itself.
func (c *Controller) Close() { c.queue.ShutDown() }

// follow feeds the queue from one source.
func (c *Controller) follow(ctx context.Context, source Source) {
	first := true
	f := follower{Source: source, controller: c.options.Name, again: c.Enqueue}
	f.changed = func(obj runtime.Object, _ bool) {
		survive(c.options.Name, func() {
			for _, key := range source.Keys(obj) {
				if first {
					c.pending.add(key)
				}
				c.enqueue(key, source.Patient)
			}
		})
	}
	f.synced = func() {
		if first {
			first = false
			c.pending.sourceDone()
		}
	}
	f.run(ctx)
}

func (c *Controller) work(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	defer c.pending.remove(key)

	err := c.reconcile(ctx, key)
	var after afterError
	switch {
	case err == nil:
		c.queue.Forget(key)
	case errors.As(err, &after):
		c.queue.Forget(key)
		c.queue.AddAfter(key, time.Duration(after))
	case ctx.Err() != nil:
	case apierrors.IsConflict(err):
		c.queue.AddRateLimited(key)
	default:
		klog.FromContext(ctx).V(2).Info("reconciling, will retry", "controller", c.options.Name, "key", key.String(), "err", err)
		c.queue.AddRateLimited(key)
	}
	return true
}

// reconcile turns a panic of the controller into an error: one broken object must
// not stop the others.
func (c *Controller) reconcile(ctx context.Context, key Key) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			klog.FromContext(ctx).Error(err, "reconciling", "controller", c.options.Name, "key", key.String())
		}
	}()
	return c.options.Reconcile(ctx, key)
}

type afterError time.Duration

func (a afterError) Error() string { return "look again in " + time.Duration(a).String() }

// After is returned by a Reconcile function to be called again for the same key
// after d.
func After(d time.Duration) error { return afterError(d) }

// pending knows what is still to be done before a controller is synced.
type pending struct {
	mu      sync.Mutex
	sources int
	keys    map[Key]struct{}
	done    func()
}

func (p *pending) add(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys != nil {
		p.keys[key] = struct{}{}
	}
}

func (p *pending) remove(key Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys == nil {
		return
	}
	delete(p.keys, key)
	p.check()
}

func (p *pending) sourceDone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sources--
	p.check()
}

func (p *pending) check() {
	if p.sources == 0 && p.keys != nil && len(p.keys) == 0 {
		p.keys = nil
		p.done()
	}
}
