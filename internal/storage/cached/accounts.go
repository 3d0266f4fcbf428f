package cached

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The resources that tokens of service accounts refer to.
var (
	ServiceAccounts = storage.Resource{GroupResource: schema.GroupResource{Resource: "serviceaccounts"}}
	Secrets         = storage.Resource{GroupResource: schema.GroupResource{Resource: "secrets"}}
)

// Accounts reads service accounts and secrets of the cluster in the context. Only the
// metadata of what it returns is filled in.
type Accounts struct {
	accounts *storage.Reader[core.ServiceAccount, *core.ServiceAccount, *core.ServiceAccountList]
	secrets  *storage.Reader[core.Secret, *core.Secret, *core.SecretList]
}

// NewAccounts returns a reader over layer.
func NewAccounts(layer *storage.Layer) *Accounts {
	return &Accounts{
		accounts: storage.NewReader[core.ServiceAccount](layer, ServiceAccounts,
			func() *core.ServiceAccountList { return &core.ServiceAccountList{} },
			func(l *core.ServiceAccountList) []core.ServiceAccount { return l.Items }),
		secrets: storage.NewReader[core.Secret](layer, Secrets,
			func() *core.SecretList { return &core.SecretList{} },
			func(l *core.SecretList) []core.Secret { return l.Items }),
	}
}

// GetServiceAccount returns a service account, or a NotFound Status error. That there is
// none is asked of etcd: the watch cache may not have heard of a new one.
func (a *Accounts) GetServiceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	account, err := a.accounts.Get(ctx, cluster, namespace, name)
	if apierrors.IsNotFound(err) {
		account, err = a.accounts.GetCurrent(ctx, cluster, namespace, name)
	}
	if err != nil {
		return nil, err
	}
	return &corev1.ServiceAccount{ObjectMeta: account.ObjectMeta}, nil
}

// GetSecret is GetServiceAccount for secrets.
func (a *Accounts) GetSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := a.secrets.Get(ctx, cluster, namespace, name)
	if apierrors.IsNotFound(err) {
		secret, err = a.secrets.GetCurrent(ctx, cluster, namespace, name)
	}
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{ObjectMeta: secret.ObjectMeta}, nil
}
