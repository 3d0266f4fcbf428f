package permissionclaims

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// builtin are the built-in resources that can be claimed, by group.
var builtin = map[string]sets.Set[string]{
	"":                          sets.New("namespaces", "configmaps", "events", "resourcequotas", "secrets", "serviceaccounts"),
	"rbac.authorization.k8s.io": sets.New("clusterroles", "clusterrolebindings", "roles", "rolebindings"),
	"certificates.k8s.io":       sets.New("certificatesigningrequests"),
	"coordination.k8s.io":       sets.New("leases"),
	"admissionregistration.k8s.io": sets.New(
		"mutatingwebhookconfigurations", "validatingwebhookconfigurations",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
		"validatingadmissionpolicies", "validatingadmissionpolicybindings",
	),
	"events.k8s.io":         sets.New("events"),
	"apiextensions.k8s.io":  sets.New("customresourcedefinitions"),
	"core.kcp.io":           sets.New("logicalclusters"),
	"authorization.k8s.io":  sets.New("subjectaccessreviews", "localsubjectaccessreviews"),
	"authentication.k8s.io": sets.New("tokenreviews"),
}

// sharing are the resources of apis.kcp.io that can be claimed.
var sharing = sets.New("apibindings", "apiresourceschemas", "apiexports")

// IsBuiltIn says whether resource is one that every workspace has and that can be claimed.
// Those of apis.kcp.io are not among them.
func IsBuiltIn(resource schema.GroupResource) bool {
	return builtin[resource.Group].Has(resource.Resource)
}

// IsClaimable says whether resource can be claimed without an identity hash.
func IsClaimable(resource schema.GroupResource) bool {
	return IsBuiltIn(resource) || resource.Group == apisv1alpha2.GroupName && sharing.Has(resource.Resource)
}

// NeedsIdentity says whether claims of resource have to say which export serves it.
func NeedsIdentity(resource schema.GroupResource) bool {
	return !IsBuiltIn(resource) && resource.Group != apisv1alpha2.GroupName
}

// IsReview says whether objects of resource are answered and never stored: they can be
// created, and nothing else.
func IsReview(resource schema.GroupResource) bool {
	return IsBuiltIn(resource) && (resource.Group == "authorization.k8s.io" || resource.Group == "authentication.k8s.io")
}
