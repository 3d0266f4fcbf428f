package maintainedbindings

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// workers are few: a change of a type with many workspaces is no reason to keep the disk
// from everybody else.
const workers = 2

// Keys are those of LogicalClusters, of types, and one that stands for the sweep. The
// namespace tells types apart, since none of these things is in one.
const typeKeys = "workspacetypes"

var sweepKey = controller.Key{Name: "sweep"}

// Config is what the controller works with. All fields are required.
type Config struct {
	Layer          *storage.Layer
	Clusters       cached.LogicalClusterReader
	WorkspaceTypes cached.WorkspaceTypeReader
	APIs           *cached.APIs
	Types          *tenancy.Resolver
	Planner        *defaultbindings.Planner
	Clock          clock.PassiveClock
}

type reconciler struct {
	Config
	index   *index
	enqueue func(controller.Key)

	// What follows belongs to the sweep, of which there is one at a time.
	backlog backlog
	swept   time.Time
}

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	r := &reconciler{Config: config, index: newIndex()}
	var sources []controller.Source
	for _, source := range []struct {
		resource storage.Resource
		keys     func(runtime.Object) []controller.Key
		known    func() []controller.Key
	}{
		{cached.WorkspaceTypes, ofType, r.knownTypes},
		{cached.APIExports, r.ofExport, nil},
		{cached.LogicalClusters, r.ofCluster, nil},
		{cached.APIBindings, r.ofBinding, nil},
	} {
		store, ok := config.Layer.Store(source.resource)
		if !ok {
			return nil, fmt.Errorf("the store of %s is not open", source.resource.GroupResource)
		}
		sources = append(sources, controller.Source{
			Store: store, Prefix: source.resource.Prefix(), Keys: source.keys, Known: source.known,
		})
	}
	c := controller.New(controller.Options{Name: "maintainedbindings", Workers: workers, Sources: sources, Reconcile: r.reconcile})
	r.enqueue = c.Enqueue
	return c, nil
}

func typeKey(t object) controller.Key {
	return controller.Key{Cluster: t.cluster, Namespace: typeKeys, Name: t.name}
}

func clusterKey(cluster logicalcluster.Name) controller.Key {
	return controller.Key{Cluster: cluster, Name: corev1alpha1.LogicalClusterName}
}

// ofType returns the key of a type.
func ofType(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	for i := range keys {
		keys[i].Namespace = typeKeys
	}
	return keys
}

func (r *reconciler) knownTypes() []controller.Key {
	var keys []controller.Key
	for _, t := range r.index.known() {
		keys = append(keys, typeKey(t))
	}
	return keys
}

// ofExport asks for a sweep if an export of that name is maintained somewhere.
func (r *reconciler) ofExport(obj runtime.Object) []controller.Key {
	keys := controller.OwnKey(obj)
	if len(keys) == 1 && r.index.exportChanged(object{keys[0].Cluster, keys[0].Name}) {
		return []controller.Key{sweepKey}
	}
	return nil
}

// ofCluster returns the key of a LogicalCluster. What was not heard of before there was a
// type that maintains bindings, the sweep finds.
func (r *reconciler) ofCluster(obj runtime.Object) []controller.Key {
	lc, ok := obj.(*corev1alpha1.LogicalCluster)
	if !ok || !r.index.any() && !conditions.Has(lc, corev1alpha1.APIBindingsReconciled) {
		return nil
	}
	return controller.OwnKey(obj)
}

// ofBinding returns the key of the LogicalCluster that a binding is beside.
func (r *reconciler) ofBinding(obj runtime.Object) []controller.Key {
	if !r.index.any() {
		return nil
	}
	keys := controller.OwnKey(obj)
	for i := range keys {
		keys[i] = clusterKey(keys[i].Cluster)
	}
	return keys
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	switch {
	case key == sweepKey:
		return r.sweep(ctx)
	case key.Namespace == typeKeys:
		return r.noteType(ctx, object{key.Cluster, key.Name})
	default:
		return r.maintain(ctx, key.Cluster)
	}
}

// noteType notes how a type is now.
func (r *reconciler) noteType(ctx context.Context, t object) error {
	workspaceType, err := r.WorkspaceTypes.Get(ctx, t.cluster, t.name)
	if apierrors.IsNotFound(err) {
		workspaceType, err = nil, nil
	}
	if err != nil {
		return err
	}
	if r.index.setType(t, workspaceType) {
		r.enqueue(sweepKey)
	}
	return nil
}
