package tokensecret

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/serviceaccount"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/storage/removal"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const workers = 2

// Config is what the controller works with.
type Config struct {
	Layer    *storage.Layer
	Accounts *cached.Accounts
	// Tokens makes the tokens, for accounts of the cluster in the context.
	Tokens serviceaccount.TokenGenerator
	// RootCA are the certificates that clients trust the server by, in PEM.
	RootCA []byte
	Clock  clock.PassiveClock
}

// New returns the controller, and the listener that has to hear of all objects for it.
func New(config Config) (*controller.Controller, controller.Listener) {
	r := &reconciler{config}
	c := controller.New(controller.Options{Name: "token-secrets", Workers: workers, Reconcile: r.reconcile})
	return c, &listener{enqueue: c.Enqueue}
}

type reconciler struct{ Config }

// reconcile looks at a secret, or at all secrets of a namespace that has lost an account.
func (r *reconciler) reconcile(ctx context.Context, key controller.Key) error {
	var err error
	if key.Name == "" {
		err = r.reconcileAll(ctx, key.Cluster, key.Namespace)
	} else {
		err = r.reconcileSecret(ctx, key)
	}
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.Secrets.GroupResource, key.Name, err)
	}
	return err
}

func (r *reconciler) reconcileAll(ctx context.Context, cluster logicalcluster.Name, namespace string) error {
	secrets, err := r.Accounts.Secrets(ctx, cluster, namespace)
	if err != nil {
		return err
	}
	for i := range secrets {
		if !holdsToken(&secrets[i]) {
			continue
		}
		if err := r.settle(ctx, cluster, &secrets[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) reconcileSecret(ctx context.Context, key controller.Key) error {
	secret, err := r.Accounts.Secret(ctx, key.Cluster, key.Namespace, key.Name)
	switch {
	case apierrors.IsNotFound(err):
		return r.forget(ctx, key)
	case err != nil || !holdsToken(secret):
		return err
	default:
		return r.settle(ctx, key.Cluster, secret)
	}
}

// settle fills a secret, or deletes it if it has no account.
func (r *reconciler) settle(ctx context.Context, cluster logicalcluster.Name, secret *core.Secret) error {
	if secret.DeletionTimestamp != nil {
		return nil
	}
	account, err := r.account(ctx, cluster, secret)
	if err != nil {
		return err
	}
	if account == nil {
		remover := removal.Remover{Layer: r.Layer, Now: r.Clock.Now}
		return remover.Remove(ctx, cluster, cached.Secrets, secret)
	}
	lacks := whatIsLacking(secret, r.RootCA)
	if lacks.nothing() {
		return nil
	}
	token := ""
	if lacks.token {
		if token, err = r.newToken(ctx, cluster, account, secret); err != nil {
			return err
		}
	}
	batch := r.Layer.NewBatch()
	batch.Update(cached.Secrets, cluster, filled(secret, account, lacks, token, r.RootCA))
	return batch.Commit(ctx)
}

// account returns the account of a secret, nil if there is none or it is another one.
func (r *reconciler) account(ctx context.Context, cluster logicalcluster.Name, secret *core.Secret) (*core.ServiceAccount, error) {
	account, err := r.Accounts.CurrentServiceAccount(ctx, cluster, secret.Namespace, secret.Annotations[core.ServiceAccountNameKey])
	if apierrors.IsNotFound(err) || err == nil && !isOf(secret, account) {
		return nil, nil
	}
	return account, err
}

// forget takes a secret that is gone out of the accounts of its namespace.
func (r *reconciler) forget(ctx context.Context, key controller.Key) error {
	accounts, err := r.Accounts.ServiceAccounts(ctx, key.Cluster, key.Namespace)
	if err != nil {
		return err
	}
	batch := r.Layer.NewBatch()
	isIt := func(ref core.ObjectReference) bool { return ref.Name == key.Name }
	for i := range accounts {
		if slices.ContainsFunc(accounts[i].Secrets, isIt) {
			wanted := accounts[i].DeepCopy()
			wanted.Secrets = slices.DeleteFunc(wanted.Secrets, isIt)
			batch.Update(cached.ServiceAccounts, key.Cluster, wanted)
		}
	}
	return batch.Commit(ctx)
}
