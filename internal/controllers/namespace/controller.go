// Package namespace is the controller that empties namespaces that are being deleted,
// and lets them go when nothing is left.
//
// It is the part of Kubernetes' namespace controller that is about the content of one
// namespace; conditions and messages are the same. What exists to be deleted is what the
// open stores hold, custom resources included, so there is no discovery that could fail.
package namespace

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/storage/removal"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	workers = 4

	// lookAgain is how often a namespace whose content is held by finalizers is looked at.
	lookAgain = time.Second
)

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	Namespaces cached.NamespaceReader
	// OpenStores makes sure that the stores of the custom resources of a cluster are open.
	OpenStores func(context.Context, logicalcluster.Name) error
	Clock      clock.PassiveClock
}

type reconciler struct{ Config }

// New returns the controller.
func New(config Config) (*controller.Controller, error) {
	store, ok := config.Layer.Store(cached.Namespaces)
	if !ok {
		return nil, errors.New("the store of namespaces is not open")
	}
	r := &reconciler{config}
	return controller.New(controller.Options{
		Name:      "namespace",
		Workers:   workers,
		Sources:   []controller.Source{{Store: store, Prefix: cached.Namespaces.Prefix(), Keys: ifDeleted}},
		Reconcile: r.reconcile,
	}), nil
}

// ifDeleted returns the key of a namespace that is being deleted: the others need nothing.
func ifDeleted(obj runtime.Object) []controller.Key {
	accessor, err := meta.Accessor(obj)
	if err != nil || accessor.GetDeletionTimestamp() == nil {
		return nil
	}
	return controller.OwnKey(obj)
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	namespace, err := r.Namespaces.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || namespace.DeletionTimestamp == nil {
		return err
	}
	content, err := r.empty(ctx, key.Cluster, key.Name)
	if err != nil {
		return err
	}
	if err := r.write(ctx, key.Cluster, namespace, content); err != nil {
		if errors.Is(err, storage.ErrBatchConflict) {
			return apierrors.NewConflict(cached.Namespaces.GroupResource, key.Name, err)
		}
		return err
	}
	if !content.Gone() {
		return controller.After(lookAgain)
	}
	return nil
}

// empty deletes what is in a namespace and returns what is left.
func (r *reconciler) empty(ctx context.Context, cluster logicalcluster.Name, name string) (Content, error) {
	if err := r.OpenStores(ctx, cluster); err != nil {
		return Content{}, err
	}
	remover := removal.Remover{Layer: r.Layer, Now: r.Clock.Now}
	var failures []error
	err := r.Layer.Each(ctx, cluster, name, func(resource storage.Resource, obj runtime.Object) error {
		if err := remover.Remove(ctx, cluster, resource, obj); err != nil {
			failures = append(failures, err)
		}
		return nil
	})
	if err != nil {
		return Content{}, err
	}
	content := Content{Remaining: map[schema.GroupVersionResource]int{}, Finalizers: map[string]int{}}
	if err := errors.Join(failures...); err != nil {
		content.Failure = err.Error()
	}
	err = r.Layer.Each(ctx, cluster, name, func(resource storage.Resource, obj runtime.Object) error {
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		content.Remaining[resource.WithVersion("")]++
		for _, finalizer := range accessor.GetFinalizers() {
			content.Finalizers[finalizer]++
		}
		return nil
	})
	return content, err
}

// write stores what is known of the content; a namespace without any loses the finalizer
// that kept it for the sake of its content, and goes if nothing else keeps it.
func (r *reconciler) write(ctx context.Context, cluster logicalcluster.Name, observed *core.Namespace, content Content) error {
	wanted := observed.DeepCopy()
	wanted.Status = Decide(observed, content, metav1.NewTime(r.Clock.Now()))
	if content.Gone() {
		wanted.Spec.Finalizers = slices.DeleteFunc(wanted.Spec.Finalizers, func(f core.FinalizerName) bool { return f == core.FinalizerKubernetes })
	}
	batch := r.Layer.NewBatch()
	switch {
	case len(wanted.Spec.Finalizers) == 0 && len(wanted.Finalizers) == 0:
		batch.Delete(cached.Namespaces, cluster, observed)
	case !equality.Semantic.DeepEqual(observed, wanted):
		batch.Update(cached.Namespaces, cluster, wanted)
	}
	return batch.Commit(ctx)
}
