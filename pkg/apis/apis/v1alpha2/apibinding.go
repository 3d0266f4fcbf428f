package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// APIBinding takes what an export offers into its own workspace.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type APIBinding struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec APIBindingSpec `json:"spec"`

	// +optional
	Status APIBindingStatus `json:"status,omitzero"`
}

// APIBindingSpec says what is bound, and which claims are accepted.
type APIBindingSpec struct {
	// reference is what is bound. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="APIExport reference must not be changed"
	Reference BindingReference `json:"reference"`

	// permissionClaims are the answers to the claims of the export.
	//
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	// +listMapKey=identityHash
	PermissionClaims []AcceptablePermissionClaim `json:"permissionClaims,omitempty"`
}

// BindingReference says what is bound.
//
// +kubebuilder:validation:ExactlyOneOf=export
type BindingReference struct {
	// export is an APIExport.
	//
	// +optional
	Export *ExportBindingReference `json:"export,omitempty"`
}

// ExportBindingReference names an APIExport.
type ExportBindingReference struct {
	// path of the workspace that the export is in, or the name of its logical cluster.
	// If it is left out, it is the workspace of the referring object.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Path string `json:"path,omitempty"`

	// name of the APIExport.
	//
	// +required
	Name string `json:"name"`
}

// APIBindingStatus is what has become of a binding.
type APIBindingStatus struct {
	// apiExportClusterName is the logical cluster that the export is in.
	//
	// +optional
	APIExportClusterName string `json:"apiExportClusterName,omitempty"`

	// boundResources are the resources that are bound.
	//
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	BoundResources []BoundAPIResource `json:"boundResources,omitempty"`

	// phase says how far binding has come. Bound is never left again.
	//
	// +optional
	// +kubebuilder:validation:Enum="";Binding;Bound
	Phase APIBindingPhase `json:"phase,omitempty"`

	// conditions say what is missing.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// appliedPermissionClaims are the claims in force: those that are accepted and that
	// the export still makes.
	//
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=resource
	// +listMapKey=identityHash
	AppliedPermissionClaims []ScopedPermissionClaim `json:"appliedPermissionClaims,omitempty"`

	// exportPermissionClaims are the claims of the export.
	//
	// +optional
	ExportPermissionClaims []PermissionClaim `json:"exportPermissionClaims,omitempty"`
}

// APIBindingPhase says how far binding has come.
type APIBindingPhase string

// The phases of a binding, in order.
const (
	// APIBindingPhaseNone is before anybody has looked at it.
	APIBindingPhaseNone APIBindingPhase = ""
	// APIBindingPhaseBinding is while something is missing.
	APIBindingPhaseBinding APIBindingPhase = "Binding"
	// APIBindingPhaseBound is from when everything has been bound once.
	APIBindingPhaseBound APIBindingPhase = "Bound"
)

// BoundAPIResource is a resource that is bound.
type BoundAPIResource struct {
	// group is the API group, empty for the core group.
	//
	// +required
	Group string `json:"group"`

	// resource is the plural name.
	//
	// +required
	Resource string `json:"resource"`

	// schema is what the resource is served by.
	//
	// +required
	Schema BoundAPIResourceSchema `json:"schema"`

	// storageVersions are all versions that objects have ever been stored in.
	//
	// +optional
	// +listType=set
	StorageVersions []string `json:"storageVersions,omitempty"`
}

// BoundAPIResourceSchema names the schema of a bound resource.
type BoundAPIResourceSchema struct {
	// name of the APIResourceSchema.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// UID of the APIResourceSchema.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	UID string `json:"UID"`

	// identityHash is the identity that the objects are stored under.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	IdentityHash string `json:"identityHash"`
}

// APIBindingList is a list of APIBindings.
//
// +kubebuilder:object:root=true
type APIBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []APIBinding `json:"items"`
}

// GetConditions returns the conditions in the status.
func (b *APIBinding) GetConditions() conditions.Conditions { return b.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (b *APIBinding) SetConditions(c conditions.Conditions) { b.Status.Conditions = c }
