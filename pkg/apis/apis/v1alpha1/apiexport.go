package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// APIExport offers resources to other workspaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="VirtualWorkspaceURLsReady")].status`
type APIExport struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec APIExportSpec `json:"spec,omitzero"`

	// +optional
	Status APIExportStatus `json:"status,omitzero"`
}

// APIExportSpec is what an export offers, and what it asks for.
type APIExportSpec struct {
	// latestResourceSchemas are the names of the APIResourceSchemas, in the same
	// workspace, that new and old bindings get. There is one for each resource.
	//
	// +optional
	// +listType=set
	LatestResourceSchemas []string `json:"latestResourceSchemas,omitempty"`

	// identity says whose objects these are. Without one a secret is made.
	//
	// +optional
	Identity *Identity `json:"identity,omitempty"`

	// maximalPermissionPolicy bounds what those who bind may do with the resources.
	//
	// +optional
	MaximalPermissionPolicy *MaximalPermissionPolicy `json:"maximalPermissionPolicy,omitempty"`

	// permissionClaims are the resources of those who bind that the provider wants
	// access to.
	//
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	PermissionClaims []PermissionClaim `json:"permissionClaims,omitempty"`
}

// Identity says what the identity of an export is made of.
type Identity struct {
	// secretRef names the secret with the identity in its key "key".
	//
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`
}

// MaximalPermissionPolicy says where the bound on permissions is written.
//
// +kubebuilder:validation:ExactlyOneOf=local
type MaximalPermissionPolicy struct {
	// local means the RBAC objects of the export's workspace, for users and groups that
	// have the prefix apis.kcp.io:binding: there.
	//
	// +optional
	Local *LocalAPIExportPolicy `json:"local,omitempty"`
}

// LocalAPIExportPolicy has nothing to set.
type LocalAPIExportPolicy struct{}

// PermissionClaim is a resource that the provider wants access to.
//
// +kubebuilder:validation:XValidation:rule="(has(self.all) && self.all) != (has(self.resourceSelector) && size(self.resourceSelector) > 0)",message="either \"all\" or \"resourceSelector\" must be set"
type PermissionClaim struct {
	GroupResource `json:",inline"`

	// all claims all objects.
	//
	// +optional
	All bool `json:"all,omitempty"`

	// resourceSelector names the objects. It has never restricted anything, and counts
	// as all.
	//
	// +optional
	ResourceSelector []ResourceSelector `json:"resourceSelector,omitempty"`

	// identityHash is the identity of the export that the resource is bound from. It is
	// empty for built-in resources.
	//
	// +optional
	IdentityHash string `json:"identityHash,omitempty"`
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

// ResourceSelector names objects.
//
// +kubebuilder:validation:XValidation:rule="has(self.__namespace__) || has(self.name)",message="at least one field must be set"
type ResourceSelector struct {
	// name of the object.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9][-a-z0-9_.]*)?[a-z0-9]$`
	Name string `json:"name,omitempty"`

	// namespace that the objects are in.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	Namespace string `json:"namespace,omitempty"`
}

// APIExportStatus is what the server knows of an export.
type APIExportStatus struct {
	// identityHash is the hash of the identity. It never changes once it is set.
	//
	// +optional
	IdentityHash string `json:"identityHash,omitempty"`

	// conditions say whether the export works.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// virtualWorkspaces is deprecated and empty: APIExportEndpointSlices have the
	// addresses.
	//
	// +optional
	// +listType=map
	// +listMapKey=url
	VirtualWorkspaces []VirtualWorkspace `json:"virtualWorkspaces,omitempty"`
}

// VirtualWorkspace is the address of a virtual workspace.
type VirtualWorkspace struct {
	// url of the virtual workspace.
	//
	// +required
	URL string `json:"url"`
}

// APIExportList is a list of APIExports.
//
// +kubebuilder:object:root=true
type APIExportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []APIExport `json:"items"`
}

// GetConditions returns the conditions in the status.
func (e *APIExport) GetConditions() conditions.Conditions { return e.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (e *APIExport) SetConditions(c conditions.Conditions) { e.Status.Conditions = c }
