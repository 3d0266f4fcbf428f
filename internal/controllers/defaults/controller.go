package defaults

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	workers = 4

	// newborn is how old a namespace is at most whose objects may have been written
	// with it and not be in the watch caches yet, and settle is how long they are given
	// to get there.
	newborn = 2 * time.Second
	settle  = 100 * time.Millisecond
)

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	Clusters   cached.LogicalClusterReader
	Namespaces cached.NamespaceReader
	Accounts   *cached.Accounts
	ConfigMaps cached.ConfigMapReader
	// RootCA are the certificates that clients trust the server by, in PEM.
	RootCA string
	Clock  clock.PassiveClock
}

// New returns the controller, and the listener that has to hear of all objects for it.
func New(config Config) (*controller.Controller, controller.Listener) {
	r := &reconciler{Config: config}
	c := controller.New(controller.Options{Name: "namespace-defaults", Workers: workers, Reconcile: r.reconcile})
	r.heard = &listener{rootCA: config.RootCA, enqueue: c.Enqueue}
	return c, r.heard
}

type reconciler struct {
	Config
	heard *listener
}

// reconcile looks at a namespace, at the ConfigMap of one, or at everything that was put
// off.
func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	var err error
	switch {
	case key == putOff:
		err = r.catchUp(ctx)
	case key.Namespace == "":
		err = r.complete(ctx, key.Cluster, key.Name)
	default:
		err = r.correct(ctx, key)
	}
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.Namespaces.GroupResource, key.Name, err)
	}
	return err
}

// complete creates what a namespace lacks.
func (r *reconciler) complete(ctx context.Context, cluster logicalcluster.Name, name string) error {
	observed, err := r.Namespaces.Get(ctx, cluster, name)
	if apierrors.IsNotFound(err) || err == nil && isEnding(observed) {
		return nil
	}
	if err != nil {
		return err
	}
	missing, err := r.missing(ctx, cluster, name)
	if err != nil || len(missing) == 0 {
		return err
	}
	if r.isNewborn(observed) {
		return controller.After(settle)
	}
	if stays, err := r.stays(ctx, cluster); err != nil || !stays {
		return err
	}
	// What has just ended took its objects along, which may have been heard of first.
	observed, err = r.Namespaces.GetCurrent(ctx, cluster, name)
	if apierrors.IsNotFound(err) || err == nil && isEnding(observed) {
		return nil
	}
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	batch.Require(cached.Namespaces, cluster, observed)
	for _, object := range missing {
		batch.Create(object.resource, cluster, object.object)
	}
	return batch.Commit(ctx)
}

// stays says whether a cluster is not about to end, as far as the watch cache knows. What
// it holds is heard to be gone in any order, and need not be looked for in etcd.
func (r *reconciler) stays(ctx context.Context, cluster logicalcluster.Name) (bool, error) {
	if cluster.IsSystem() {
		return true, nil
	}
	inside, err := r.Clusters.GetCached(ctx, cluster)
	if apierrors.IsNotFound(err) {
		// It has just ended, or the watch caches lag.
		return false, controller.After(settle)
	}
	return err == nil && inside.DeletionTimestamp == nil, err
}

func isEnding(observed *core.Namespace) bool {
	return observed.DeletionTimestamp != nil || observed.Status.Phase == core.NamespaceTerminating
}

// absent is an object that should be there.
type absent struct {
	resource storage.Resource
	object   runtime.Object
}

// missing returns what a namespace lacks, ready to be created.
func (r *reconciler) missing(ctx context.Context, cluster logicalcluster.Name, name string) ([]absent, error) {
	var all []absent
	_, err := r.Accounts.ServiceAccount(ctx, cluster, name, namespace.DefaultAccount)
	if apierrors.IsNotFound(err) {
		account := namespace.NewDefaultAccount(name)
		r.fill(account)
		all = append(all, absent{cached.ServiceAccounts, account})
	} else if err != nil {
		return nil, err
	}
	_, err = r.ConfigMaps.Get(ctx, cluster, name, namespace.RootCA)
	if apierrors.IsNotFound(err) {
		rootCA := namespace.NewRootCA(name, r.RootCA)
		r.fill(rootCA)
		all = append(all, absent{cached.ConfigMaps, rootCA})
	} else if err != nil {
		return nil, err
	}
	return all, nil
}

// fill sets what every new object gets from the server.
func (r *reconciler) fill(obj metav1.Object) {
	rest.FillObjectMetaSystemFields(obj)
	obj.SetCreationTimestamp(metav1.NewTime(r.Clock.Now()).Rfc3339Copy())
}

// isNewborn says whether the server itself has made the namespace just now.
func (r *reconciler) isNewborn(observed *core.Namespace) bool {
	return observed.Annotations[corev1alpha1.CreateOnlyAnnotationKey] == "true" &&
		r.Clock.Now().Sub(observed.CreationTimestamp.Time) < newborn
}

// correct brings the ConfigMap of a namespace up to date.
func (r *reconciler) correct(ctx context.Context, key controller.Key) error {
	batch := r.Layer.NewBatch()
	if err := r.addCorrection(ctx, batch, key); err != nil {
		return err
	}
	return batch.Commit(ctx)
}

// addCorrection adds to batch what brings a ConfigMap up to date.
func (r *reconciler) addCorrection(ctx context.Context, batch *storage.Batch, key controller.Key) error {
	observed, err := r.ConfigMaps.Get(ctx, key.Cluster, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || isCurrent(observed, r.RootCA) {
		return err
	}
	wanted := observed.DeepCopy()
	wanted.Data = map[string]string{corev1.ServiceAccountRootCAKey: r.RootCA}
	if wanted.Annotations == nil {
		wanted.Annotations = map[string]string{}
	}
	wanted.Annotations[namespace.DescriptionAnnotationKey] = namespace.Description
	batch.Update(cached.ConfigMaps, key.Cluster, wanted)
	return nil
}

// isCurrent says whether the ConfigMap says what it should.
func isCurrent(observed *core.ConfigMap, rootCA string) bool {
	return len(observed.Data) == 1 && observed.Data[corev1.ServiceAccountRootCAKey] == rootCA &&
		observed.Annotations[namespace.DescriptionAnnotationKey] != ""
}
