package apiexport

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const workers = 2

// Config is what the controller works with.
type Config struct {
	Layer      *storage.Layer
	APIs       *cached.APIs
	Accounts   *cached.Accounts
	Namespaces cached.NamespaceReader
	Clock      clock.PassiveClock
}

// New returns the controller, and the listener that has to hear of all objects for it.
func New(config Config) (*controller.Controller, controller.Listener, error) {
	store, ok := config.Layer.Store(cached.APIExports)
	if !ok {
		return nil, nil, errors.New("the store of apiexports is not open")
	}
	r := &reconciler{Config: config, secrets: &references{}}
	c := controller.New(controller.Options{
		Name:    "apiexport",
		Workers: workers,
		Sources: []controller.Source{{
			Store: store, Prefix: cached.APIExports.Prefix(), Keys: controller.OwnKey, Known: r.secrets.keys,
		}},
		Reconcile: r.reconcile,
	})
	r.secrets.enqueue = c.Enqueue
	return c, r.secrets, nil
}

type reconciler struct {
	Config
	secrets *references
}

func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	observed, err := r.APIs.Export(ctx, key.Cluster, key.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && observed.DeletionTimestamp != nil:
		r.secrets.remove(key)
		return nil
	case err != nil:
		return err
	}
	// From now on changes of the secret are heard of: what is read next may be old, but
	// not for long.
	named := secretOf(observed)
	r.secrets.set(key, named.Namespace, named.Name)

	secret, err := r.secret(ctx, key.Cluster, observed)
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	wanted := observed.DeepCopy()
	possible := true
	if secret == nil && isNew(observed) {
		if secret, err = r.makeSecret(ctx, batch, key.Cluster, wanted); err != nil {
			return err
		}
		possible = secret != nil
	}
	if possible {
		name(wanted)
		verify(wanted, secret)
	}
	if equality.Semantic.DeepEqual(observed, wanted) {
		return nil
	}
	batch.Update(cached.APIExports, key.Cluster, wanted)
	err = batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.APIExports.GroupResource, key.Name, err)
	}
	return err
}

// secret returns the secret of an export, nil if there is none. That there is none is
// asked of etcd.
func (r *reconciler) secret(ctx context.Context, cluster logicalcluster.Name, export *apisv1alpha2.APIExport) (*core.Secret, error) {
	named := secretOf(export)
	if named.Name == "" || named.Namespace == "" {
		return nil, nil
	}
	secret, err := r.Accounts.CurrentSecret(ctx, cluster, named.Namespace, named.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return secret, err
}

// makeSecret adds to batch a secret for export, with its namespace if that is missing. It
// returns nil, and says so in the export, if the namespace is being deleted.
func (r *reconciler) makeSecret(ctx context.Context, batch *storage.Batch, cluster logicalcluster.Name, export *apisv1alpha2.APIExport) (*core.Secret, error) {
	in, err := r.Namespaces.GetCurrent(ctx, cluster, identityNamespace)
	switch {
	case apierrors.IsNotFound(err):
		made := namespace.New(identityNamespace)
		r.fill(made)
		batch.Create(cached.Namespaces, cluster, made)
	case err != nil:
		return nil, err
	case in.DeletionTimestamp != nil || in.Status.Phase == core.NamespaceTerminating:
		conditions.MarkFalse(export, apisv1alpha1.APIExportIdentityValid, apisv1alpha1.ReasonIdentityGenerationFailed,
			conditions.SeverityError, "namespace %s is being deleted", identityNamespace)
		return nil, nil
	default:
		batch.Require(cached.Namespaces, cluster, in)
	}
	secret := newSecret(secretOf(export))
	r.fill(secret)
	batch.Create(cached.Secrets, cluster, secret)
	return secret, nil
}

// fill sets what every new object gets from the server.
func (r *reconciler) fill(obj metav1.Object) {
	rest.FillObjectMetaSystemFields(obj)
	obj.SetCreationTimestamp(metav1.NewTime(r.Clock.Now()).Rfc3339Copy())
}
