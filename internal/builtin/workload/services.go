package workload

import (
	"context"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/klog/v2"
	api "k8s.io/kubernetes/pkg/apis/core"
	endpoint "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	pod "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	svcreg "k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	service "k8s.io/kubernetes/pkg/registry/core/service/storage"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// newServices returns upstream's registry of services and of their status. What services
// are given is decided by upstream's logic, over the allocations of the cluster.
func newServices(config Config, endpoints *endpoint.REST, pods *pod.REST) (*service.REST, *serviceStatus, error) {
	given := &allocations{services: config.Services, clusters: map[logicalcluster.Name]*underway{}}
	build := func(options over) (*service.REST, *allocating, error) {
		logic := &allocating{}
		ips := map[api.IPFamily]ipallocator.Interface{}
		for _, cidr := range config.Services.ClusterIPs {
			ips[familyOf(cidr.IP)] = &clusterIPs{logic: logic, cidr: cidr}
		}
		made, _, _, err := service.NewREST(options, familyOf(config.Services.ClusterIPs[0].IP), ips,
			&nodePorts{logic: logic}, endpoints, pods, nil)
		if err != nil {
			return nil, nil, err
		}
		logic.create, logic.update = made.BeginCreate, made.BeginUpdate
		return made, logic, nil
	}

	opened, err := openServices(config)
	if err != nil {
		return nil, nil, err
	}
	registry, _, err := build(over{config.RESTOptions, opened.Storage.Storage})
	if err != nil {
		return nil, nil, err
	}
	lent := newPool(func() (*allocating, error) {
		_, logic, err := build(over{config.RESTOptions, opened.Storage.Storage})
		return logic, err
	})
	given.list = listServices(registry.Store)
	registry.BeginCreate, registry.BeginUpdate = given.beginCreate(lent), given.beginUpdate(lent)
	registry.AfterDelete = deleteEndpoints(config, endpoints)
	registry.DestroyFunc = opened.DestroyFunc

	statusStore := *registry.Store
	statusStore.UpdateStrategy = svcreg.StatusStrategy
	statusStore.ResetFieldsStrategy = svcreg.StatusStrategy
	return registry, &serviceStatus{store: &statusStore}, nil
}

// openServices opens the storage, which the registries of all requests share.
func openServices(config Config) (*genericregistry.Store, error) {
	made, _, _, err := service.NewREST(config.RESTOptions, api.IPv4Protocol, nil, nil, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return made.Store, nil
}

// deleteEndpoints deletes the endpoints of a service that is gone, as upstream does. What it
// had is free again by its being gone.
func deleteEndpoints(config Config, endpoints rest.GracefulDeleter) genericregistry.AfterDeleteFunc {
	return func(obj runtime.Object, options *metav1.DeleteOptions) {
		deleted := obj.(*api.Service)
		if dryrun.IsDryRun(options.DryRun) {
			return
		}
		// There is no context of the request here.
		ctx := logicalcluster.NewContext(context.Background(), config.clusterOf(deleted))
		ctx = genericapirequest.WithNamespace(ctx, deleted.Namespace)
		_, _, err := endpoints.Delete(ctx, deleted.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			klog.ErrorS(err, "Deleting the endpoints of a service", "service", klog.KObj(deleted))
		}
	}
}

// clusterIPs hands out the addresses of one range, to the request that logic serves.
type clusterIPs struct {
	logic *allocating
	cidr  net.IPNet
}

// loaded returns the allocator of the request.
func (c *clusterIPs) loaded() (ipallocator.Interface, error) {
	if err := c.logic.current.load(); err != nil {
		return nil, err
	}
	return c.logic.current.ips[c.IPFamily()], nil
}

// Allocate takes an address.
func (c *clusterIPs) Allocate(ip net.IP) error {
	allocator, err := c.loaded()
	if err != nil {
		return err
	}
	return allocator.Allocate(ip)
}

// AllocateNext takes any address.
func (c *clusterIPs) AllocateNext() (net.IP, error) {
	allocator, err := c.loaded()
	if err != nil {
		return nil, err
	}
	return allocator.AllocateNext()
}

// Release does nothing: an address is free when no service has it.
func (c *clusterIPs) Release(net.IP) error { return nil }

// ForEach visits nothing; only metrics and repairs would ask.
func (c *clusterIPs) ForEach(func(net.IP)) {}

// CIDR returns the range.
func (c *clusterIPs) CIDR() net.IPNet { return c.cidr }

// IPFamily returns the family of the range.
func (c *clusterIPs) IPFamily() api.IPFamily { return familyOf(c.cidr.IP) }

// Has says whether an address is taken.
func (c *clusterIPs) Has(ip net.IP) bool {
	allocator, err := c.loaded()
	return err == nil && allocator.Has(ip)
}

// Destroy does nothing.
func (c *clusterIPs) Destroy() {}

// EnableMetrics does nothing: ranges are those of tenants.
func (c *clusterIPs) EnableMetrics() {}

// DryRun returns what takes nothing.
func (c *clusterIPs) DryRun() ipallocator.Interface {
	allocator, err := ipallocator.NewInMemory(&c.cidr)
	if err != nil {
		// It is made like that for every request.
		panic(err)
	}
	return allocator.DryRun()
}

// nodePorts hands out ports, to the request that logic serves.
type nodePorts struct{ logic *allocating }

// Allocate takes a port.
func (n *nodePorts) Allocate(port int) error {
	if err := n.logic.current.load(); err != nil {
		return err
	}
	return n.logic.current.ports.Allocate(port)
}

// AllocateNext takes any port.
func (n *nodePorts) AllocateNext() (int, error) {
	if err := n.logic.current.load(); err != nil {
		return 0, err
	}
	return n.logic.current.ports.AllocateNext()
}

// Release does nothing: a port is free when no service has it.
func (n *nodePorts) Release(int) error { return nil }

// ForEach visits nothing; only metrics and repairs would ask.
func (n *nodePorts) ForEach(func(int)) {}

// Has says whether a port is taken.
func (n *nodePorts) Has(port int) bool {
	return n.logic.current.load() == nil && n.logic.current.ports.Has(port)
}

// Destroy does nothing.
func (n *nodePorts) Destroy() {}

// EnableMetrics does nothing: ranges are those of tenants.
func (n *nodePorts) EnableMetrics() {}

var (
	_ ipallocator.Interface   = &clusterIPs{}
	_ portallocator.Interface = &nodePorts{}
)

// serviceStatus is the subresource status of services. Upstream's cannot be given another
// way to delete what a service leaves behind.
type serviceStatus struct{ store *genericregistry.Store }

var (
	_ rest.Patcher             = &serviceStatus{}
	_ rest.ResetFieldsStrategy = &serviceStatus{}
	_ rest.TableConvertor      = &serviceStatus{}
)

// New returns an empty service.
func (s *serviceStatus) New() runtime.Object { return &api.Service{} }

// Destroy does nothing: the store is that of services.
func (s *serviceStatus) Destroy() {}

// Get returns a service.
func (s *serviceStatus) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update writes the status of a service that exists.
func (s *serviceStatus) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, create, update, false, options)
}

// GetResetFields returns the fields that are not those of the status.
func (s *serviceStatus) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}

// ConvertToTable returns a service as a table.
func (s *serviceStatus) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, obj, options)
}
