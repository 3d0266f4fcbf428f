package workspacetype

import (
	"context"
	"errors"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

const workers = 2

// Config is what the controller works with.
type Config struct {
	Layer  *storage.Layer
	Types  cached.WorkspaceTypeReader
	Shards cached.ShardReader
}

// New returns the controller. Its keys are those of types, and everything for all of them.
func New(config Config) (*controller.Controller, error) {
	types, ok := config.Layer.Store(cached.WorkspaceTypes)
	if !ok {
		return nil, errors.New("the store of workspace types is not open")
	}
	shards, ok := config.Layer.Store(cached.Shards)
	if !ok {
		return nil, errors.New("the store of shards is not open")
	}
	r := &reconciler{Config: config}
	all := []controller.Key{everything}
	c := controller.New(controller.Options{
		Name:    "workspacetype",
		Workers: workers,
		Sources: []controller.Source{
			{Store: types, Prefix: cached.WorkspaceTypes.Prefix(), Keys: controller.OwnKey},
			{Store: shards, Prefix: cached.Shards.Prefix(), Keys: func(runtime.Object) []controller.Key { return all }, Known: func() []controller.Key { return all }},
		},
		Reconcile: r.reconcile,
	})
	r.enqueue = c.Enqueue
	return c, nil
}

// everything is the key that stands for all types.
var everything = controller.Key{}

type reconciler struct {
	Config
	enqueue func(controller.Key)

	mu sync.Mutex
	// addresses are those that all types were last told of, by the names of shards.
	addresses map[string]string
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	if key == everything {
		return r.enqueueAll(ctx)
	}
	workspaceType, err := r.Types.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	shards, err := r.Shards.List(ctx)
	if err != nil {
		return err
	}
	wanted := Decide(tenancy.Type{Place: tenancy.Place{Cluster: key.Cluster}, Object: workspaceType}, shards)
	if equality.Semantic.DeepEqual(workspaceType, wanted) {
		return nil
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.WorkspaceTypes, key.Cluster, wanted)
	if err = batch.Commit(ctx); errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.WorkspaceTypes.GroupResource, key.Name, err)
	}
	return err
}

// enqueueAll enqueues all types if the address of a shard has changed. Shards report about
// themselves all the time.
func (r *reconciler) enqueueAll(ctx context.Context) error {
	shards, err := r.Shards.List(ctx)
	if err != nil {
		return err
	}
	addresses := make(map[string]string, len(shards))
	for i := range shards {
		addresses[shards[i].Name] = shards[i].Spec.VirtualWorkspaceURL
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if maps.Equal(r.addresses, addresses) {
		return nil
	}
	types, err := r.Types.List(ctx, logicalcluster.Wildcard)
	if err != nil {
		return err
	}
	for i := range types {
		r.enqueue(controller.Key{Cluster: logicalcluster.FromAnnotations(types[i].Annotations), Name: types[i].Name})
	}
	r.addresses = addresses
	return nil
}
