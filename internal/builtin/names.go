package builtin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// names are all built-in resources and subresources by their group. It says before
// anything is built what builders will serve; TestServedResources compares the two.
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

// Names returns all built-in resources and, as "resource/subresource", subresources, in
// the order of their groups.
func Names() []schema.GroupVersionResource {
	var all []schema.GroupVersionResource
	for _, group := range slices.Sorted(maps.Keys(names)) {
		for _, resource := range names[group] {
			all = append(all, schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
		}
	}
	return all
}
