package workload

import (
	"context"
	"fmt"
	"net"
	"sync"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	netutils "k8s.io/utils/net"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// allocations knows what addresses and ports the services of each cluster have. It
// remembers nothing: those who need some look at all services of their cluster, one
// request after the other, and what they take is noted until it is stored or given up.
// So nothing is ever lost, by a crash either, and there is nothing to repair. It relies on
// this process being the only one that creates services.
type allocations struct {
	services Services
	// list returns the services of the cluster of a context as they are now.
	list func(ctx context.Context) ([]api.Service, error)

	mu       sync.Mutex
	clusters map[logicalcluster.Name]*underway
}

// underway are the requests of a cluster that take something.
type underway struct {
	sync.Mutex
	// users are those who look, or whose services are being stored; the last forgets the
	// cluster.
	users int
	// taken are services that are being stored, as they will be.
	taken map[*taking]*api.Service
}

// taking is one such request.
type taking struct {
	*allocations
	ctx     context.Context
	cluster logicalcluster.Name
	entry   *underway
	// ips and ports are what upstream allocates from; nil until it asks.
	ips   map[api.IPFamily]ipallocator.Interface
	ports portallocator.Interface
}

// begin makes a request the only one of its cluster that takes something, until decided.
func (a *allocations) begin(ctx context.Context) (*taking, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return nil, err
	}
	background, err := inCluster(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	entry := a.clusters[cluster]
	if entry == nil {
		entry = &underway{taken: map[*taking]*api.Service{}}
		a.clusters[cluster] = entry
	}
	entry.users++
	a.mu.Unlock()
	entry.Lock()
	return &taking{allocations: a, ctx: background, cluster: cluster, entry: entry}, nil
}

// decided lets others go on. service is what will be stored.
func (t *taking) decided(service *api.Service) {
	t.entry.taken[t] = service
	t.entry.Unlock()
}

// refused lets others go on, and ends a request that has not been decided.
func (t *taking) refused() {
	t.entry.Unlock()
	t.leave()
}

// end says that the service of a request that has been decided is stored, or never will be.
func (t *taking) end() {
	t.entry.Lock()
	delete(t.entry.taken, t)
	t.entry.Unlock()
	t.leave()
}

func (t *taking) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entry.users--; t.entry.users == 0 {
		delete(t.clusters, t.cluster)
	}
}

// load looks at all services, once a request.
func (t *taking) load() error {
	if t.ips != nil {
		return nil
	}
	ips := map[api.IPFamily]ipallocator.Interface{}
	for i := range t.services.ClusterIPs {
		made, err := ipallocator.NewInMemory(&t.services.ClusterIPs[i])
		if err != nil {
			return err
		}
		ips[made.IPFamily()] = made
	}
	ports, err := portallocator.NewInMemory(t.services.NodePorts)
	if err != nil {
		return err
	}
	services, err := t.list(t.ctx)
	if err != nil {
		return fmt.Errorf("reading services: %w", err)
	}
	for i := range services {
		occupy(&services[i], ips, ports)
	}
	for _, service := range t.entry.taken {
		occupy(service, ips, ports)
	}
	t.ips, t.ports = ips, ports
	return nil
}

// occupy takes what a service has. What is outside of the ranges, or taken twice, was
// allowed by other settings.
func occupy(service *api.Service, ips map[api.IPFamily]ipallocator.Interface, ports portallocator.Interface) {
	for _, text := range service.Spec.ClusterIPs {
		ip := netutils.ParseIPSloppy(text)
		if ip == nil {
			continue
		}
		if allocator, ok := ips[familyOf(ip)]; ok {
			_ = allocator.Allocate(ip)
		}
	}
	for i := range service.Spec.Ports {
		if port := service.Spec.Ports[i].NodePort; port != 0 {
			_ = ports.Allocate(int(port))
		}
	}
	if port := service.Spec.HealthCheckNodePort; port != 0 {
		_ = ports.Allocate(int(port))
	}
}

func familyOf(ip net.IP) api.IPFamily {
	if netutils.IsIPv6(ip) {
		return api.IPv6Protocol
	}
	return api.IPv4Protocol
}

// listServices reads services from their registry.
func listServices(store *genericregistry.Store) func(context.Context) ([]api.Service, error) {
	return func(ctx context.Context) ([]api.Service, error) {
		found, err := store.List(ctx, &metainternalversion.ListOptions{})
		if err != nil {
			return nil, err
		}
		list, ok := found.(*api.ServiceList)
		if !ok {
			return nil, fmt.Errorf("services are a %T", found)
		}
		return list.Items, nil
	}
}

// allocating is upstream's logic of what a service is given, for one request at a time.
type allocating struct {
	create genericregistry.BeginCreateFunc
	update genericregistry.BeginUpdateFunc
	// current is the request that is served.
	current *taking
}

// beginCreate gives a new service what it needs.
func (a *allocations) beginCreate(lent *pool[*allocating]) genericregistry.BeginCreateFunc {
	return func(ctx context.Context, obj runtime.Object, options *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		return a.allocate(ctx, obj, lent, func(logic *allocating) (genericregistry.FinishFunc, error) {
			return logic.create(ctx, obj, options)
		})
	}
}

// beginUpdate gives a changed service what it needs now.
func (a *allocations) beginUpdate(lent *pool[*allocating]) genericregistry.BeginUpdateFunc {
	return func(ctx context.Context, obj, old runtime.Object, options *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		return a.allocate(ctx, obj, lent, func(logic *allocating) (genericregistry.FinishFunc, error) {
			return logic.update(ctx, obj, old, options)
		})
	}
}

// allocate runs upstream's logic, and notes what comes of it until the service is stored.
func (a *allocations) allocate(ctx context.Context, obj runtime.Object, lent *pool[*allocating],
	decide func(*allocating) (genericregistry.FinishFunc, error),
) (genericregistry.FinishFunc, error) {
	taking, err := a.begin(ctx)
	if err != nil {
		return nil, err
	}
	logic := lent.take()
	logic.current = taking
	finish, err := decide(logic)
	if err != nil {
		logic.current = nil
		lent.giveBack(logic)
		taking.refused()
		return nil, err
	}
	// Others read it while it is written.
	taking.decided(obj.(*api.Service).DeepCopy())
	return func(ctx context.Context, success bool) {
		finish(ctx, success)
		logic.current = nil
		lent.giveBack(logic)
		taking.end()
	}, nil
}
