package workload

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	policyclient "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	pod "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	poddisruptionbudget "k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget/storage"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// evictions is upstream's registry of evictions. That asks for budgets by a client and
// without the context of the request, so each request gets a registry, and a client, of its
// own.
type evictions struct {
	*pod.EvictionREST
	pool *pool[*evicting]
}

var (
	_ rest.NamedCreater             = &evictions{}
	_ rest.GroupVersionKindProvider = &evictions{}
	_ rest.GroupVersionAcceptor     = &evictions{}
)

// evicting is what serves one eviction at a time.
type evicting struct {
	registry *pod.EvictionREST
	budgets  *budgets
}

func newEvictions(a *assembly, pods *genericregistry.Store) *evictions {
	registry := a.groups[policy]["poddisruptionbudgets"].(*poddisruptionbudget.REST)
	status := a.groups[policy]["poddisruptionbudgets/status"].(rest.Updater)
	build := func() (*evicting, error) {
		budgets := &budgets{registry: registry, status: status}
		made, err := pod.NewStorage(over{a.config.RESTOptions, pods.Storage.Storage}, nil, nil, budgets, a.config.Authorizer)
		if err != nil {
			return nil, err
		}
		made.Pod.TableConvertor = pods.TableConvertor
		return &evicting{registry: made.Eviction, budgets: budgets}, nil
	}
	// The embedded one describes the resource and creates nothing.
	return &evictions{EvictionREST: &pod.EvictionREST{}, pool: newPool(build)}
}

// Create evicts a pod.
func (e *evictions) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	cluster, err := inCluster(ctx)
	if err != nil {
		return nil, err
	}
	evicting := e.pool.take()
	defer e.pool.giveBack(evicting)
	evicting.budgets.cluster = cluster
	return evicting.registry.Create(ctx, name, obj, validate, options)
}

// budgets reads and writes the PodDisruptionBudgets of a cluster, for evictions.
type budgets struct {
	registry rest.Storage
	status   rest.Updater
	// cluster is a context that names the cluster.
	cluster context.Context
}

// PodDisruptionBudgets returns those of a namespace.
func (b *budgets) PodDisruptionBudgets(namespace string) policyclient.PodDisruptionBudgetInterface {
	return &namespacedBudgets{budgets: b, ctx: genericapirequest.WithNamespace(b.cluster, namespace)}
}

// namespacedBudgets has the three methods that evictions call; others would panic.
type namespacedBudgets struct {
	policyclient.PodDisruptionBudgetInterface
	*budgets
	ctx context.Context
}

// Get returns a budget.
func (b *namespacedBudgets) Get(_ context.Context, name string, options metav1.GetOptions) (*policyv1.PodDisruptionBudget, error) {
	found, err := b.registry.(rest.Getter).Get(b.ctx, name, &options)
	if err != nil {
		return nil, err
	}
	budget := &policyv1.PodDisruptionBudget{}
	return budget, legacyscheme.Scheme.Convert(found, budget, nil)
}

// List returns all budgets.
func (b *namespacedBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	found, err := b.registry.(rest.Lister).List(b.ctx, nil)
	if err != nil {
		return nil, err
	}
	list := &policyv1.PodDisruptionBudgetList{}
	return list, legacyscheme.Scheme.Convert(found, list, nil)
}

// UpdateStatus writes the status of a budget.
func (b *namespacedBudgets) UpdateStatus(_ context.Context, budget *policyv1.PodDisruptionBudget, options metav1.UpdateOptions) (*policyv1.PodDisruptionBudget, error) {
	wanted, err := legacyscheme.Scheme.ConvertToVersion(budget, schema.GroupVersion{Group: policy, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, fmt.Errorf("converting a budget: %w", err)
	}
	stored, _, err := b.status.Update(b.ctx, budget.Name, rest.DefaultUpdatedObjectInfo(wanted),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &options)
	if err != nil {
		return nil, err
	}
	updated := &policyv1.PodDisruptionBudget{}
	return updated, legacyscheme.Scheme.Convert(stored, updated, nil)
}
