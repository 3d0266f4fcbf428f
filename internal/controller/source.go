package controller

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Source is one thing a controller watches: all objects of a store.
type Source struct {
	// Cluster restricts the source to one cluster; all clusters if it is the zero Name.
	Cluster logicalcluster.Name
	// Store is watched below Prefix, the prefix of its resource.
	Store  storage.Interface
	Prefix string
	// Keys returns the keys to look at when obj has appeared, changed or gone.
	Keys func(obj runtime.Object) []Key
	// Patient says that its keys wait for those of other sources, as far as these leave
	// workers idle, and take every fifth turn otherwise. It is for sources of which one
	// object concerns many keys.
	Patient bool
	// Known returns the keys that the controller remembers something of, for those
	// that do. They are looked at again after a gap in the watch, in which a deletion
	// may have gone unseen.
	Known func() []Key
}

// OwnKey returns the key of the object itself. It is what most sources use as Keys.
func OwnKey(obj runtime.Object) []Key {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	if cluster.Empty() {
		return nil
	}
	return []Key{{Cluster: cluster, Namespace: accessor.GetNamespace(), Name: accessor.GetName()}}
}

// follower is a source being followed.
type follower struct {
	Source
	controller string
	// began is called before everything that exists is reported; may be nil.
	began func()
	// changed is called for every object there is and for every change; gone says that
	// obj is how the object was when it was removed.
	changed func(obj runtime.Object, gone bool)
	// again is called for what Known returns after a gap.
	again func(Key)
	// synced is called when the objects that existed when a watch began have all
	// been reported.
	synced func()
	// version is where to resume, or empty to begin with what exists.
	version string
	gaps    int
}

// run follows the source until ctx ends.
func (f *follower) run(ctx context.Context) {
	retry := wait.Backoff{Duration: 2 * time.Millisecond, Factor: 2, Cap: 5 * time.Second, Steps: 20, Jitter: 0.1}
	backoff := retry
	for ctx.Err() == nil {
		w, err := f.watch(ctx)
		switch {
		case err == nil:
			if f.version == "" && f.began != nil {
				f.began()
			}
			if f.drain(ctx, w) {
				backoff = retry
			}
			w.Stop()
		case ctx.Err() == nil:
			f.version = ""
			klog.FromContext(ctx).V(4).Info("watching, will retry", "controller", f.controller, "prefix", f.Prefix, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

func (f *follower) watch(ctx context.Context) (watch.Interface, error) {
	options := storage.ListOptions{ResourceVersion: resumeAt(f.version), Recursive: true, Predicate: storage.Everything}
	options.Predicate.AllowWatchBookmarks = true
	if f.version == "" {
		options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		options.SendInitialEvents = ptr.To(true)
	}
	cluster := f.Cluster
	if cluster.Empty() {
		cluster = logicalcluster.Wildcard
	}
	return f.Store.Watch(logicalcluster.NewContext(ctx, cluster), f.Prefix, options)
}

// resumeAt returns the version after which to resume a watch whose last event had the
// given version. Writes of one transaction share a version, and the watch may have ended
// between two of them: that one comes again.
func resumeAt(version string) string {
	last, err := strconv.ParseUint(version, 10, 64)
	if err != nil || last < 2 {
		return version
	}
	return strconv.FormatUint(last-1, 10)
}

// drain reads a watch to its end and says whether it delivered anything.
func (f *follower) drain(ctx context.Context, w watch.Interface) bool {
	delivered := false
	for {
		select {
		case <-ctx.Done():
			return delivered
		case event, ok := <-w.ResultChan():
			if !ok {
				return delivered
			}
			if event.Type == watch.Error {
				// Expired or unknown: begin anew with what exists.
				f.version = ""
				return delivered
			}
			delivered = true
			f.handle(event)
		}
	}
}

func (f *follower) handle(event watch.Event) {
	accessor, err := meta.Accessor(event.Object)
	if err != nil {
		return
	}
	if event.Type != watch.Bookmark {
		// While what existed is being reported, versions are in no order.
		if f.version != "" {
			f.version = accessor.GetResourceVersion()
		}
		f.changed(unwrap(event.Object), event.Type == watch.Deleted)
		return
	}
	if f.version != "" {
		f.version = accessor.GetResourceVersion()
	} else if accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		f.version = accessor.GetResourceVersion()
		f.begun()
	}
}

// begun notes that all that existed has been reported.
func (f *follower) begun() {
	if f.gaps > 0 && f.Known != nil {
		for _, key := range f.Known() {
			f.again(key)
		}
	}
	f.gaps++
	f.synced()
}

// unwrap returns the object behind the wrapper that the watch cache puts around
// objects which several watchers share.
func unwrap(obj runtime.Object) runtime.Object {
	if cached, ok := obj.(interface{ GetObject() runtime.Object }); ok {
		return cached.GetObject()
	}
	return obj
}
