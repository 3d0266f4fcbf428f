package quota

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"

	"github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ClusterScopedAnnotationKey, with the value "true", makes a quota in the namespace
// ClusterScopedNamespace one for all of its logical cluster: for all namespaces, and for
// what is in none.
const (
	ClusterScopedAnnotationKey = "experimental.quota.kcp.io/cluster-scoped"
	ClusterScopedNamespace     = "admin"
)

const countPrefix = "count/"

// aliases are names that quotas had for the number of objects before there were any for
// all resources. Of the resources that Kubernetes has such names for these are the ones
// that workspaces have.
var aliases = map[schema.GroupResource]corev1.ResourceName{
	{Resource: "configmaps"}:     corev1.ResourceConfigMaps,
	{Resource: "secrets"}:        corev1.ResourceSecrets,
	{Resource: "resourcequotas"}: corev1.ResourceQuotas,
}

var clusterRoleBindings = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}

// Counted says whether objects of a resource can be counted by quotas. Reviews are not
// stored, events come and go by themselves, and every cluster has its LogicalCluster.
func Counted(resource schema.GroupResource) bool {
	switch {
	case resource.Group == "authentication.k8s.io", resource.Group == "authorization.k8s.io":
		return false
	case resource == (schema.GroupResource{Resource: "events"}), resource == (schema.GroupResource{Group: "events.k8s.io", Resource: "events"}):
		return false
	default:
		return resource != corev1alpha1.Resource("logicalclusters")
	}
}

// Exempt says whether an object does not count though others of its resource do: the
// binding that every cluster is born with.
func Exempt(resource schema.GroupResource, name string) bool {
	return resource == clusterRoleBindings && name == rbac.WorkspaceAdminBinding
}

// Resource returns the resource whose objects a key of a quota counts. ok is false for
// keys that count nothing here.
func Resource(key corev1.ResourceName) (resource schema.GroupResource, ok bool) {
	for resource, alias := range aliases {
		if key == alias {
			return resource, true
		}
	}
	name, ok := strings.CutPrefix(string(key), countPrefix)
	if !ok || name == "" || strings.Contains(name, "/") {
		return schema.GroupResource{}, false
	}
	resource = schema.ParseGroupResource(name)
	return resource, Counted(resource)
}

// evaluator returns upstream's way to count objects of a resource.
func evaluator(resource schema.GroupResource) quota.Evaluator {
	return generic.NewObjectCountEvaluator(resource, nil, aliases[resource])
}

// counts says whether a quota counts objects of a resource, by what it says now or by
// what it should say.
func counts(q *corev1.ResourceQuota, resource schema.GroupResource) bool {
	name, alias := generic.ObjectCountQuotaResourceNameFor(resource), aliases[resource]
	for _, list := range []corev1.ResourceList{q.Spec.Hard, q.Status.Hard} {
		if _, ok := list[name]; ok {
			return true
		}
		if alias == "" {
			continue
		}
		if _, ok := list[alias]; ok {
			return true
		}
	}
	return false
}

// place is what quotas are for: a namespace of a cluster, or all of it if that is empty.
type place struct {
	cluster   logicalcluster.Name
	namespace string
}

func placeOf(cluster logicalcluster.Name, q *corev1.ResourceQuota) place {
	if q.Namespace == ClusterScopedNamespace && q.Annotations[ClusterScopedAnnotationKey] == "true" {
		return place{cluster: cluster}
	}
	return place{cluster, q.Namespace}
}

// Key names a quota.
type Key struct {
	Cluster         logicalcluster.Name
	Namespace, Name string
}
