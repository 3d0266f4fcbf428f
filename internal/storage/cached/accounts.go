package cached

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
	coreconversion "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The resources that tokens of service accounts refer to.
var (
	ServiceAccounts = storage.Resource{GroupResource: schema.GroupResource{Resource: "serviceaccounts"}}
	Secrets         = storage.Resource{GroupResource: schema.GroupResource{Resource: "secrets"}}
)

// ConfigMaps is the resource of config maps.
var ConfigMaps = storage.Resource{GroupResource: schema.GroupResource{Resource: "configmaps"}}

// Accounts reads service accounts and secrets.
type Accounts struct {
	layer    *storage.Layer
	accounts *storage.Reader[core.ServiceAccount, *core.ServiceAccount, *core.ServiceAccountList]
	secrets  *storage.Reader[core.Secret, *core.Secret, *core.SecretList]
}

// NewAccounts returns a reader over layer.
func NewAccounts(layer *storage.Layer) *Accounts {
	return &Accounts{
		layer: layer,
		accounts: storage.NewReader[core.ServiceAccount](layer, ServiceAccounts,
			func() *core.ServiceAccountList { return &core.ServiceAccountList{} },
			func(l *core.ServiceAccountList) []core.ServiceAccount { return l.Items }),
		secrets: storage.NewReader[core.Secret](layer, Secrets,
			func() *core.SecretList { return &core.SecretList{} },
			func(l *core.SecretList) []core.Secret { return l.Items }),
	}
}

// ServiceAccount returns a service account, or a NotFound Status error.
func (a *Accounts) ServiceAccount(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*core.ServiceAccount, error) {
	return a.accounts.Get(ctx, cluster, namespace, name)
}

// CurrentServiceAccount is ServiceAccount, but that there is none is asked of etcd: the
// watch cache may not have heard of a new one.
func (a *Accounts) CurrentServiceAccount(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*core.ServiceAccount, error) {
	account, err := a.accounts.Get(ctx, cluster, namespace, name)
	if apierrors.IsNotFound(err) {
		return a.accounts.GetCurrent(ctx, cluster, namespace, name)
	}
	return account, err
}

// ServiceAccounts returns the service accounts of a namespace.
func (a *Accounts) ServiceAccounts(ctx context.Context, cluster logicalcluster.Name, namespace string) ([]core.ServiceAccount, error) {
	return a.accounts.List(ctx, cluster, namespace)
}

// Secret returns a secret, or a NotFound Status error.
func (a *Accounts) Secret(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*core.Secret, error) {
	return a.secrets.Get(ctx, cluster, namespace, name)
}

// CurrentSecret is Secret, but that there is none is asked of etcd: the watch cache may
// not have heard of a new one.
func (a *Accounts) CurrentSecret(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*core.Secret, error) {
	secret, err := a.secrets.Get(ctx, cluster, namespace, name)
	if apierrors.IsNotFound(err) {
		return a.secrets.GetCurrent(ctx, cluster, namespace, name)
	}
	return secret, err
}

// Secrets returns the secrets of a namespace.
func (a *Accounts) Secrets(ctx context.Context, cluster logicalcluster.Name, namespace string) ([]core.Secret, error) {
	return a.secrets.List(ctx, cluster, namespace)
}

// GetServiceAccount is CurrentServiceAccount in the cluster of the context, in v1.
func (a *Accounts) GetServiceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	account, err := a.CurrentServiceAccount(ctx, cluster, namespace, name)
	if err != nil {
		return nil, err
	}
	out := &corev1.ServiceAccount{}
	return out, coreconversion.Convert_core_ServiceAccount_To_v1_ServiceAccount(account, out, nil)
}

// GetSecret is GetServiceAccount for secrets.
func (a *Accounts) GetSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := a.CurrentSecret(ctx, cluster, namespace, name)
	if err != nil {
		return nil, err
	}
	out := &corev1.Secret{}
	return out, coreconversion.Convert_core_Secret_To_v1_Secret(secret, out, nil)
}

// LabelSecret sets labels of a secret in the cluster of the context. If it is not the one
// with the UID of secret any more, or changes at the same time, the error is a Conflict
// Status.
func (a *Accounts) LabelSecret(ctx context.Context, secret *corev1.Secret, labels map[string]string) error {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return err
	}
	stored, err := a.secrets.GetCurrent(ctx, cluster, secret.Namespace, secret.Name)
	if err != nil {
		return err
	}
	if stored.UID != secret.UID {
		return apierrors.NewConflict(Secrets.GroupResource, secret.Name, errors.New("the secret is another one by now"))
	}
	if stored.Labels == nil {
		stored.Labels = map[string]string{}
	}
	maps.Copy(stored.Labels, labels)
	batch := a.layer.NewBatch()
	batch.Update(Secrets, cluster, stored)
	if err := batch.Commit(ctx); err != nil {
		if errors.Is(err, storage.ErrBatchConflict) {
			return apierrors.NewConflict(Secrets.GroupResource, secret.Name, err)
		}
		return err
	}
	return nil
}

// ConfigMapReader reads config maps.
type ConfigMapReader struct {
	reader *storage.Reader[core.ConfigMap, *core.ConfigMap, *core.ConfigMapList]
}

// NewConfigMapReader returns a reader over layer.
func NewConfigMapReader(layer *storage.Layer) ConfigMapReader {
	return ConfigMapReader{storage.NewReader[core.ConfigMap](layer, ConfigMaps,
		func() *core.ConfigMapList { return &core.ConfigMapList{} },
		func(l *core.ConfigMapList) []core.ConfigMap { return l.Items })}
}

// Get returns a config map, or a NotFound Status error.
func (r ConfigMapReader) Get(ctx context.Context, cluster logicalcluster.Name, namespace, name string) (*core.ConfigMap, error) {
	return r.reader.Get(ctx, cluster, namespace, name)
}
