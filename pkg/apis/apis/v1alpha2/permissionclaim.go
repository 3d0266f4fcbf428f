package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PermissionClaim is a resource of those who bind that the provider wants access to.
type PermissionClaim struct {
	GroupResource `json:",inline"`

	// verbs are what the provider wants to do; "*" means anything.
	//
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	Verbs []string `json:"verbs"`

	// identityHash is the identity of the export that the resource is bound from. It is
	// empty for built-in resources.
	//
	// +optional
	// +kubebuilder:default=""
	IdentityHash string `json:"identityHash,omitempty"`

	// defaultSelector is the selector that default bindings accept the claim with.
	//
	// +optional
	// +structType=atomic
	DefaultSelector *PermissionClaimSelector `json:"defaultSelector,omitempty"`
}

// GroupResource names a resource.
type GroupResource struct {
	// group is the API group, empty for the core group.
	//
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:Pattern=`^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$`
	Group string `json:"group,omitempty"`

	// resource is the plural name.
	//
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z][-a-z0-9]*[a-z0-9]$`
	Resource string `json:"resource"`
}

// PermissionClaimSelector picks objects: all, or by their labels.
type PermissionClaimSelector struct {
	metav1.LabelSelector `json:",inline"`

	// matchAll picks all objects. It cannot be used with the others.
	//
	// +optional
	MatchAll bool `json:"matchAll,omitempty"`
}

// ScopedPermissionClaim is a claim in force, with the objects it is for.
type ScopedPermissionClaim struct {
	PermissionClaim `json:",inline"`

	// selector picks the objects that the provider has access to. It cannot be changed in
	// answers to claims that have both a group and an identityHash.
	//
	// +required
	// +structType=atomic
	Selector PermissionClaimSelector `json:"selector"`
}

// AcceptablePermissionClaim is the answer to a claim.
type AcceptablePermissionClaim struct {
	ScopedPermissionClaim `json:",inline"`

	// state is the answer.
	//
	// +required
	// +kubebuilder:validation:Enum=Accepted;Rejected
	State AcceptablePermissionClaimState `json:"state"`
}

// AcceptablePermissionClaimState is the answer to a claim.
type AcceptablePermissionClaimState string

// The answers to claims.
const (
	// ClaimAccepted gives the provider access.
	ClaimAccepted AcceptablePermissionClaimState = "Accepted"
	// ClaimRejected gives none.
	ClaimRejected AcceptablePermissionClaimState = "Rejected"
)
