package server

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/registry/generic"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/config/namespace"
	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/bootstrap"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/unmarked"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/server/options"
)

// single returns the cluster that a server is that is a single one to its clients, and the
// zero Name for others. It is the one that is there for the policy that holds everywhere:
// it has the roles of Kubernetes, and needs nobody to have made it.
func (s *Server) single() logicalcluster.Name {
	if s.options.Single {
		return logicalcluster.SystemAdmin
	}
	return logicalcluster.Name{}
}

// registries returns the options of the registries of the built-in groups.
func (s *Server) registries(registries storage.Registries) generic.RESTOptionsGetter {
	options := s.layer.RESTOptions(registries)
	if s.options.Single {
		return unmarked.RESTOptions(options)
	}
	return options
}

// show returns what says what clients are shown of custom resources; nil where they are
// shown all.
func (s *Server) show() func(*unstructured.Unstructured) *unstructured.Unstructured {
	if s.options.Single {
		return unmarked.Custom
	}
	return nil
}

// controllersOfSingle are those that stand for something that a kube-apiserver does by
// itself: roles are in force, definitions are served, and quotas are kept. Others, such as
// those that collect garbage or empty namespaces, are the controller manager's, and
// whoever tests against an API server alone relies on their not being there.
var controllersOfSingle = []string{"bootstrap-policy", "customresourcedefinition", "resourcequota"}

// keepSingle drops what a single cluster has no use for. listeners are those that stay.
func (s *Server) keepSingle(listeners []controller.Listener) {
	s.controllers = slices.DeleteFunc(s.controllers, func(c *controller.Controller) bool {
		return !slices.Contains(controllersOfSingle, c.Name())
	})
	s.listeners = listeners
}

// singleObjects are what a kube-apiserver makes when it starts.
func (s *Server) singleObjects() ([]bootstrap.Object, error) {
	var objects []bootstrap.Object
	in := logicalcluster.SystemAdmin
	for _, object := range rbac.SystemAdmin() {
		objects = append(objects, bootstrap.Object{Resource: policyResource(object), Cluster: in, Object: object})
	}
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespacePublic, metav1.NamespaceSystem, corev1.NamespaceNodeLease} {
		object := namespace.New(name)
		object.Annotations = nil
		objects = append(objects, bootstrap.Object{Resource: cached.Namespaces, Cluster: in, Object: object})
	}
	if !s.options.Batteries.Has(options.WorkloadTypesBattery) {
		return objects, nil
	}
	for _, class := range scheduling.SystemPriorityClasses() {
		objects = append(objects, bootstrap.Object{Resource: resource("scheduling.k8s.io", "priorityclasses"), Cluster: in, Object: class.DeepCopy()})
	}
	service, err := s.ownService()
	if err != nil {
		return nil, err
	}
	return append(objects, bootstrap.Object{Resource: resource("", "services"), Cluster: in, Object: service}), nil
}

// ownService is the service kubernetes, by which pods would find the server.
func (s *Server) ownService() (*corev1.Service, error) {
	ranges, err := s.options.Workloads.ClusterIPs()
	if err != nil {
		return nil, err
	}
	first, ok := netip.AddrFromSlice(ranges[0].IP)
	if !ok {
		return nil, fmt.Errorf("%s is no range of addresses", ranges[0].String())
	}
	first = first.Unmap().Next()
	address, family := first.String(), corev1.IPv4Protocol
	if first.Is6() {
		family = corev1.IPv6Protocol
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: "kubernetes",
			Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			Type:                  corev1.ServiceTypeClusterIP,
			ClusterIP:             address,
			ClusterIPs:            []string{address},
			IPFamilies:            []corev1.IPFamily{family},
			IPFamilyPolicy:        ptr.To(corev1.IPFamilyPolicySingleStack),
			SessionAffinity:       corev1.ServiceAffinityNone,
			InternalTrafficPolicy: ptr.To(corev1.ServiceInternalTrafficPolicyCluster),
			Ports: []corev1.ServicePort{{
				Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt(s.options.Serving.Port),
			}},
		},
	}, nil
}

func resource(group, name string) storage.Resource {
	return storage.Resource{GroupResource: schema.GroupResource{Group: group, Resource: name}}
}
