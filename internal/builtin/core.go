package builtin

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	configmap "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	event "k8s.io/kubernetes/pkg/registry/core/event/storage"
	namespace "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	resourcequota "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secret "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	serviceaccount "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
	kubeserviceaccount "k8s.io/kubernetes/pkg/serviceaccount"
)

func core(config *Config, common *shared) (storages, error) {
	configMaps, err := configmap.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	events, err := event.NewREST(config.RESTOptions, uint64(config.eventTTL().Seconds()))
	if err != nil {
		return nil, err
	}
	namespaces, namespaceStatus, namespaceFinalize, err := namespace.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	quotas, quotaStatus, err := resourcequota.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	secrets, err := secret.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	serviceAccounts, err := newServiceAccounts(config, common, secrets)
	if err != nil {
		return nil, err
	}

	shareTables(configMaps.Store, events.Store, quotas.Store, secrets.Store, serviceAccounts.Store)
	common.events = events

	resources := storages{
		"configmaps":            configMaps,
		"events":                events,
		"namespaces":            namespaces,
		"namespaces/status":     namespaceStatus,
		"namespaces/finalize":   namespaceFinalize,
		"resourcequotas":        quotas,
		"resourcequotas/status": quotaStatus,
		"secrets":               secrets,
		"serviceaccounts":       serviceAccounts,
	}
	if serviceAccounts.Token != nil {
		resources["serviceaccounts/token"] = serviceAccounts.Token
	}
	return resources, nil
}

// newServiceAccounts builds the registry of service accounts, with tokens if the
// configuration asks for them. Where there are no pods and nodes, a token that shall be
// bound to one meets "not found".
func newServiceAccounts(config *Config, common *shared, secrets rest.Getter) (*serviceaccount.REST, error) {
	tokens := config.Tokens
	if tokens == nil {
		tokens = &Tokens{}
	}
	return serviceaccount.NewREST(config.RESTOptions, tokens.Issuer, tokens.Audiences, tokens.MaxExpiration,
		common.workload("pods"), secrets, common.workload("nodes"),
		tokens.ExtendExpiration, kubeserviceaccount.ExpirationExtensionSeconds*time.Second)
}

// events serves the same objects as the core group's events, in the other shape.
func events(_ *Config, common *shared) (storages, error) {
	return storages{"events": common.events}, nil
}

// workload returns what reads a workload type of the core group.
func (s *shared) workload(resource string) rest.Getter {
	if getter, ok := s.workloads[""][resource].(rest.Getter); ok {
		return getter
	}
	return absent{Resource: resource}
}

// absent is a resource that does not exist: every object of it is not found.
type absent schema.GroupResource

// Get implements rest.Getter.
func (a absent) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource(a), name)
}
