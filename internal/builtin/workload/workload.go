package workload

import (
	"fmt"
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/capabilities"

	// The groups that are served register themselves in the legacy scheme.
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Config is what the registries need.
type Config struct {
	// RESTOptions gives each registry its storage. Required.
	RESTOptions generic.RESTOptionsGetter
	// Authorizer answers what upstream's pods ask. Required.
	Authorizer authorizer.Authorizer
	// Services says what services are given. Required.
	Services Services
	// Single is the cluster that objects are in which do not say theirs. Zero means that
	// all say it.
	Single logicalcluster.Name
}

// clusterOf returns the cluster of a stored object.
func (c *Config) clusterOf(object metav1.Object) logicalcluster.Name {
	if cluster := logicalcluster.FromAnnotations(object.GetAnnotations()); !cluster.Empty() {
		return cluster
	}
	return c.Single
}

// Services says from where services are given addresses and ports, in each cluster anew.
type Services struct {
	// ClusterIPs are one or two ranges; the first is the one that services are given an
	// address of that ask for none in particular. Two are of different families.
	ClusterIPs []net.IPNet
	// NodePorts is the range of ports on nodes.
	NodePorts utilnet.PortRange
}

// Storages are the registries of a group by resource or "resource/subresource".
type Storages map[string]rest.Storage

// assembly collects registries by group.
type assembly struct {
	config Config
	groups map[string]Storages
	stores []*genericregistry.Store
}

// New returns the registries of each group, and the stores that they have in common with
// other such registries: what prints their objects may be replaced in them.
func New(config Config) (groups map[string]Storages, stores []*genericregistry.Store, err error) {
	// Validation asks a setting of the process whether containers may be privileged. No
	// container ever runs here, and policies of workspaces may say otherwise.
	capabilities.Setup(true, 0)
	a := &assembly{config: config, groups: map[string]Storages{}}
	for _, add := range []func(*assembly) error{
		(*assembly).addPolicy, // pods are evicted by it
		(*assembly).addCore, (*assembly).addApps, (*assembly).addBatch, (*assembly).addAutoscaling, (*assembly).addNetworking,
		(*assembly).addScheduling, (*assembly).addStorage, (*assembly).addNode, (*assembly).addDiscovery,
	} {
		if err := add(a); err != nil {
			return nil, nil, fmt.Errorf("building workload types: %w", err)
		}
	}
	return a.groups, a.stores, nil
}

// add notes a resource of a group with its subresources.
func (a *assembly) add(group, resource string, store *genericregistry.Store, registry rest.Storage, subresources Storages) {
	if a.groups[group] == nil {
		a.groups[group] = Storages{}
	}
	a.groups[group][resource] = registry
	for name, subresource := range subresources {
		a.groups[group][resource+"/"+name] = subresource
	}
	a.stores = append(a.stores, store)
}
