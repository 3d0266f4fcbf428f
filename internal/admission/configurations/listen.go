package configurations

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Listener tells an Index what a controller.Feed tells it.
type Listener struct{ index *Index }

// Listener returns what has to be told of all changes. Nothing but one Feed may use it.
func (x *Index) Listener() Listener { return Listener{x} }

// Began says that all that exists in resource is told next.
func (l Listener) Began(resource storage.Resource) {
	if k, ok := kindOf(resource); ok {
		l.index.begin(k)
	}
}

// Changed says that obj exists or has changed.
func (l Listener) Changed(resource storage.Resource, obj runtime.Object) {
	if k, ok := kindOf(resource); ok {
		l.index.set(k, obj)
	}
}

// Gone says that obj is not there any more.
func (l Listener) Gone(resource storage.Resource, obj runtime.Object) {
	k, ok := kindOf(resource)
	if !ok {
		return
	}
	if name, place, ok := identify(obj); ok {
		l.index.remove(k, place, name)
	}
}

// Synced says that everything that exists in resource has been told.
func (l Listener) Synced(resource storage.Resource) {
	if k, ok := kindOf(resource); ok {
		l.index.complete(k)
	}
}

// Closed says that nothing more is told of resource. The stores of built-in resources
// are closed with the server only; what is known stays in force until then.
func (l Listener) Closed(storage.Resource) {}

func (x *Index) begin(k kind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kinds[k].round++
}

// set keeps an object, and tells who has subscribed.
func (x *Index) set(k kind, obj runtime.Object) {
	name, place, ok := identify(obj)
	if !ok {
		return
	}
	x.mu.Lock()
	c := x.clusters[place]
	if c == nil {
		c = &cluster{}
		x.clusters[place] = c
	}
	old, existed := c.objects[k][name]
	if c.objects[k] == nil {
		c.objects[k] = map[string]object{}
	}
	c.objects[k][name] = object{Object: obj, round: x.kinds[k].round}
	subscribers := c.subscribers[k]
	x.mu.Unlock()

	for _, s := range subscribers {
		if existed {
			s.tell(func(t Subscriber) { t.Updated(old.Object, obj) })
		} else {
			s.tell(func(t Subscriber) { t.Added(obj) })
		}
	}
}

// remove forgets an object, and what was made for the cluster because of it.
func (x *Index) remove(k kind, place logicalcluster.Name, name string) {
	x.mu.Lock()
	c := x.clusters[place]
	if c == nil {
		x.mu.Unlock()
		return
	}
	old, existed := c.objects[k][name]
	delete(c.objects[k], name)
	subscribers := c.subscribers[k]
	unneeded := x.takeUnneeded(place, c)
	if c.empty() {
		delete(x.clusters, place)
	}
	x.mu.Unlock()

	if existed {
		for _, s := range subscribers {
			s.tell(func(t Subscriber) { t.Deleted(old.Object) })
		}
	}
	for _, i := range unneeded {
		i.end()
	}
}

// complete ends a round: what has not been told in it has gone while nobody watched.
func (x *Index) complete(k kind) {
	for _, m := range x.missed(k) {
		x.remove(k, m.cluster, m.name)
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.kinds[k].synced {
		x.kinds[k].synced = true
		if x.pending--; x.pending == 0 {
			close(x.synced)
		}
	}
}

// missed is what was not told in the present round.
type missed struct {
	cluster logicalcluster.Name
	name    string
}

func (x *Index) missed(k kind) []missed {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all []missed
	for place, c := range x.clusters {
		for name, o := range c.objects[k] {
			if o.round != x.kinds[k].round {
				all = append(all, missed{place, name})
			}
		}
	}
	return all
}

// identify returns the name of obj and the cluster it is in.
func identify(obj runtime.Object) (name string, place logicalcluster.Name, ok bool) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return "", logicalcluster.Name{}, false
	}
	place = logicalcluster.FromAnnotations(accessor.GetAnnotations())
	return accessor.GetName(), place, !place.Empty()
}
