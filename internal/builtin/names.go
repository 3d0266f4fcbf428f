package builtin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// names are the built-in resources and subresources by their group, without workload
// types. It says before anything is built what builders will serve; TestServedResources
// compares the two.
var names = map[string][]string{
	"": {
		"configmaps", "events", "namespaces", "namespaces/status", "namespaces/finalize", "resourcequotas",
		"resourcequotas/status", "secrets", "serviceaccounts", "serviceaccounts/token",
	},
	"admissionregistration.k8s.io": {
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations",
		"validatingadmissionpolicies", "validatingadmissionpolicies/status", "validatingadmissionpolicybindings",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
	},
	"apiextensions.k8s.io":  {"customresourcedefinitions", "customresourcedefinitions/status"},
	"authentication.k8s.io": {"tokenreviews", "selfsubjectreviews"},
	"authorization.k8s.io": {
		"subjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "localsubjectaccessreviews",
	},
	"certificates.k8s.io": {
		"certificatesigningrequests", "certificatesigningrequests/status", "certificatesigningrequests/approval",
	},
	"coordination.k8s.io":       {"leases"},
	"events.k8s.io":             {"events"},
	"rbac.authorization.k8s.io": {"clusterroles", "clusterrolebindings", "roles", "rolebindings"},
}

// workloadNames are the workload types.
var workloadNames = map[string][]string{
	"": {
		"bindings", "endpoints", "limitranges", "nodes", "nodes/status",
		"persistentvolumeclaims", "persistentvolumeclaims/status", "persistentvolumes", "persistentvolumes/status",
		"pods", "pods/binding", "pods/ephemeralcontainers", "pods/eviction", "pods/resize", "pods/status", "podtemplates",
		"replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status",
		"services", "services/status",
	},
	"apps": {
		"controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status",
		"replicasets", "replicasets/scale", "replicasets/status", "statefulsets", "statefulsets/scale", "statefulsets/status",
	},
	"autoscaling":       {"horizontalpodautoscalers", "horizontalpodautoscalers/status"},
	"batch":             {"cronjobs", "cronjobs/status", "jobs", "jobs/status"},
	"discovery.k8s.io":  {"endpointslices"},
	"networking.k8s.io": {"ingressclasses", "ingresses", "ingresses/status", "networkpolicies"},
	"node.k8s.io":       {"runtimeclasses"},
	"policy":            {"poddisruptionbudgets", "poddisruptionbudgets/status"},
	"scheduling.k8s.io": {"priorityclasses"},
	"storage.k8s.io": {
		"csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments", "volumeattachments/status",
		"volumeattributesclasses",
	},
}

// versions are those of groups that have others than v1, the preferred one first. The
// first is the one that objects are stored in.
var versions = map[string][]string{"autoscaling": {"v2", "v1"}}

// versionsOf returns the versions of a group.
func versionsOf(group string) []string {
	if more, ok := versions[group]; ok {
		return more
	}
	return []string{version}
}

// StorageVersion returns the version in which the objects of a group are stored.
func StorageVersion(group string) string { return versionsOf(group)[0] }

// Names returns all resources and, as "resource/subresource", subresources of a server,
// in the order of their groups.
func (t *Types) Names() []schema.GroupVersionResource {
	all := maps.Clone(names)
	if t.workloads {
		for group, resources := range workloadNames {
			all[group] = slices.Concat(all[group], resources)
		}
	}
	var resources []schema.GroupVersionResource
	for _, group := range slices.Sorted(maps.Keys(all)) {
		for _, resource := range all[group] {
			for _, version := range versionsOf(group) {
				resources = append(resources, schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
			}
		}
	}
	return resources
}
