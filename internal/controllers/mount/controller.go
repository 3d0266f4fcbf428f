package mount

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/mount"
	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// workers is how many workspaces are looked at at a time.
const workers = 4

// Kinds knows which kinds there are in a cluster.
type Kinds interface {
	OfKind(cluster logicalcluster.Name, gvk schema.GroupVersionKind) (catalog.Kind, bool)
}

// Config is what the controller works with. All of it is required.
type Config struct {
	Layer      *storage.Layer
	Workspaces cached.WorkspaceReader
	Kinds      Kinds
	// OpenStore makes sure that the store of a resource is open.
	OpenStore func(storage.Resource) error
	// Policy says which addresses may be followed.
	Policy *mount.Policy
	// Cut ends the requests that run in what a workspace of a cluster has mounted.
	Cut   func(parent logicalcluster.Name, workspace string)
	Clock clock.PassiveClock
}

type reconciler struct {
	Config
	index *Index
}

// New returns the controller, and what has to be told of all objects and kinds.
func New(config Config) (*controller.Controller, *Index, error) {
	store, ok := config.Layer.Store(cached.Workspaces)
	if !ok {
		return nil, nil, fmt.Errorf("the store of %s is not open", cached.Workspaces.GroupResource)
	}
	var c *controller.Controller
	r := &reconciler{Config: config}
	r.index = newIndex(func(key controller.Key) { c.Enqueue(key) })
	c = controller.New(controller.Options{
		Name:    "mount",
		Workers: workers,
		Sources: []controller.Source{{
			Store: store, Prefix: cached.Workspaces.Prefix(), Keys: keyOfMounted, Known: r.index.known,
		}},
		Reconcile: r.reconcile,
	})
	return c, r.index, nil
}

// keyOfMounted returns the key of a workspace that mounts something.
func keyOfMounted(obj runtime.Object) []controller.Key {
	if ws, ok := obj.(*tenancyv1alpha1.Workspace); ok && ws.Spec.Mount != nil {
		return controller.OwnKey(obj)
	}
	return nil
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	ws, err := r.Workspaces.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) || err == nil && ws.Spec.Mount == nil {
		r.index.forget(key)
		r.Cut(key.Cluster, key.Name)
		return nil
	}
	if err != nil {
		return err
	}
	// In this order: what changes in between makes the controller look again.
	r.index.set(key, ws.Spec.Mount.Reference)
	if !r.index.isSettled() {
		return nil
	}
	wanted, err := r.wanted(ctx, key.Cluster, ws)
	if err != nil || wanted == ws {
		return err
	}
	if wanted.Status.Phase != corev1alpha1.PhaseReady || wanted.Spec.URL != ws.Spec.URL {
		defer r.Cut(key.Cluster, key.Name)
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.Workspaces, key.Cluster, wanted)
	err = batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.Workspaces.GroupResource, key.Name, err)
	}
	return err
}

// wanted returns a mounted workspace as it should be.
func (r *reconciler) wanted(ctx context.Context, cluster logicalcluster.Name, ws *tenancyv1alpha1.Workspace) (*tenancyv1alpha1.Workspace, error) {
	in := phase.MountInput{Observed: ws, Now: metav1.NewTime(r.Clock.Now())}
	var err error
	if in.Object, err = r.mounted(ctx, cluster, ws.Spec.Mount.Reference); err != nil {
		return nil, fmt.Errorf("reading what is mounted: %w", err)
	}
	if in.Object != nil && in.Object.URL != "" {
		_, in.Refused = r.Policy.Check(in.Object.URL)
	}
	return phase.Mount(in), nil
}

// mounted returns what an object says of itself, nil if there is none.
func (r *reconciler) mounted(ctx context.Context, cluster logicalcluster.Name, ref tenancyv1alpha1.ObjectReference) (*phase.MountObject, error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, nil //nolint:nilerr // because there is no such kind then
	}
	kind, ok := r.Kinds.OfKind(cluster, gv.WithKind(ref.Kind))
	if !ok || !slices.Contains(kind.Verbs, "get") || kind.Namespaced != (ref.Namespace != "") {
		return nil, nil
	}
	obj, err := r.read(ctx, cluster, kind.Store, ref)
	if err != nil || obj == nil {
		return nil, err
	}
	content, err := contentOf(obj)
	if err != nil {
		return nil, err
	}
	status := &phase.MountObject{}
	// What is of another type than expected is as good as missing.
	status.Phase, _, _ = unstructured.NestedString(content, "status", "phase")
	status.URL, _, _ = unstructured.NestedString(content, "status", "URL")
	return status, nil
}

// read returns an object from the watch cache, nil if there is none.
func (r *reconciler) read(ctx context.Context, cluster logicalcluster.Name, resource storage.Resource, ref tenancyv1alpha1.ObjectReference) (runtime.Object, error) {
	store, ok := r.Layer.Store(resource)
	if !ok {
		if err := r.OpenStore(resource); err != nil {
			return nil, err
		}
		if store, ok = r.Layer.Store(resource); !ok {
			return nil, fmt.Errorf("the store of %s is not open", resource.Prefix())
		}
	}
	obj, err := r.Layer.NewObject(resource)
	if err != nil {
		return nil, err
	}
	ctx = logicalcluster.NewContext(ctx, cluster)
	err = store.Get(ctx, resource.Key(ref.Namespace, ref.Name), apistorage.GetOptions{ResourceVersion: "0"}, obj)
	if apistorage.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

func contentOf(obj runtime.Object) (map[string]any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}
