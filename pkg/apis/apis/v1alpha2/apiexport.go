package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// APIExport offers resources to other workspaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
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
	// resources are what is offered.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +listMapKey=group
	Resources []ResourceSchema `json:"resources,omitempty"`

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

// ResourceSchema is a resource that an export offers.
type ResourceSchema struct {
	// name is the plural name of the resource.
	//
	// +required
	Name string `json:"name"`

	// group is the API group, empty for the core group.
	//
	// +required
	Group string `json:"group"`

	// schema is the name of an APIResourceSchema in the same workspace.
	//
	// +required
	Schema string `json:"schema"`

	// storage says where the objects are.
	//
	// +optional
	// +kubebuilder:default={crd:{}}
	Storage ResourceSchemaStorage `json:"storage,omitempty,omitzero"`
}

// ResourceSchemaStorage says where the objects of a resource are.
//
// +kubebuilder:validation:XValidation:rule="has(self.crd) != has(self.virtual)",message="Exactly one of crd or virtual must be set"
type ResourceSchemaStorage struct {
	// crd keeps them in the workspaces that bind.
	//
	// +optional
	CRD *ResourceSchemaStorageCRD `json:"crd,omitempty"`

	// virtual takes them from somewhere else.
	//
	// +optional
	Virtual *ResourceSchemaStorageVirtual `json:"virtual,omitempty"`
}

// ResourceSchemaStorageCRD has nothing to set.
type ResourceSchemaStorageCRD struct{}

// ResourceSchemaStorageVirtual says where objects are taken from.
type ResourceSchemaStorageVirtual struct {
	// reference is the object, in the same workspace, that publishes the endpoints.
	//
	// +required
	Reference corev1.TypedLocalObjectReference `json:"reference"`

	// identityHash is the identity of the virtual resource.
	//
	// +required
	IdentityHash string `json:"identityHash"`
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
