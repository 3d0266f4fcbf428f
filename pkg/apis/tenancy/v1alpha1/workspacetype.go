package v1alpha1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// WorkspaceType decides how workspaces of that type are made, what they begin with,
// and what may be above and below them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
type WorkspaceType struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec WorkspaceTypeSpec `json:"spec,omitzero"`

	// +optional
	Status WorkspaceTypeStatus `json:"status,omitzero"`
}

// WorkspaceTypeSpec is what a workspace type means.
type WorkspaceTypeSpec struct {
	// initializer makes workspaces of this type, and of types that extend it, wait for
	// this type's initializer before they are ready.
	//
	// +optional
	Initializer bool `json:"initializer,omitempty"`

	// terminator makes the deletion of workspaces of this type, and of types that extend
	// it, wait for this type's terminator.
	//
	// +optional
	Terminator bool `json:"terminator,omitempty"`

	// extend names the types this one builds on.
	//
	// +optional
	Extend WorkspaceTypeExtension `json:"extend,omitzero"`

	// additionalWorkspaceLabels are put on workspaces of this type when they are
	// created, where they have no such label yet. Types that extend this one do not
	// inherit them.
	//
	// +optional
	AdditionalWorkspaceLabels map[string]string `json:"additionalWorkspaceLabels,omitempty"`

	// defaultChildWorkspaceType is the type of workspaces that are created in a
	// workspace of this type without saying theirs. Types that extend this one do not
	// inherit it.
	//
	// +optional
	// +kubebuilder:default={"name":"universal","path":"root"}
	DefaultChildWorkspaceType *WorkspaceTypeReference `json:"defaultChildWorkspaceType,omitempty"`

	// limitAllowedChildren says which types workspaces may have that are created in a
	// workspace of this type. Without it any type may.
	//
	// +optional
	LimitAllowedChildren *WorkspaceTypeSelector `json:"limitAllowedChildren,omitempty"`

	// limitAllowedParents says which types of workspaces may hold workspaces of this
	// type. Without it any type may.
	//
	// +optional
	LimitAllowedParents *WorkspaceTypeSelector `json:"limitAllowedParents,omitempty"`

	// defaultAPIBindings are the exports that are bound in a workspace of this type
	// before it is ready.
	//
	// +optional
	DefaultAPIBindings []APIExportReference `json:"defaultAPIBindings,omitempty"`

	// defaultAPIBindingLifecycle says whether the default bindings are looked after once
	// the workspace is ready. InitializeOnly, which is also what no value means, does
	// not; Maintain keeps them as this type and the exports say.
	//
	// +optional
	DefaultAPIBindingLifecycle *APIBindingLifecycle `json:"defaultAPIBindingLifecycle,omitempty"`

	// authenticationConfigurations name the WorkspaceAuthenticationConfigurations, in
	// the same workspace as the type, whose users may authenticate in workspaces of this
	// type.
	//
	// +optional
	AuthenticationConfigurations []AuthenticationConfigurationReference `json:"authenticationConfigurations,omitempty"`

	// initializerPermissions are what the initializer of this type may do in a workspace
	// that waits for it. Without any it acts as the creator of the workspace.
	//
	// +optional
	InitializerPermissions []rbacv1.PolicyRule `json:"initializerPermissions,omitempty"`

	// terminatorPermissions are what the terminator of this type may do in a workspace
	// that waits for it. Without any it acts as the creator of the workspace.
	//
	// +optional
	TerminatorPermissions []rbacv1.PolicyRule `json:"terminatorPermissions,omitempty"`
}

// WorkspaceTypeExtension names types to build on.
type WorkspaceTypeExtension struct {
	// with are the types whose initializers, terminators, default bindings and limits
	// are added to those of the extending type, along with those of the types they
	// extend themselves.
	//
	// +optional
	With []WorkspaceTypeReference `json:"with,omitempty"`
}

// WorkspaceTypeSelector picks workspace types: none at all, or some.
//
// +kubebuilder:validation:ExactlyOneOf=none;types
type WorkspaceTypeSelector struct {
	// none picks no type.
	//
	// +optional
	None bool `json:"none,omitempty"`

	// types are the types that are picked, and those that extend them.
	//
	// +optional
	// +kubebuilder:validation:MinItems=1
	Types []WorkspaceTypeReference `json:"types,omitempty"`
}

// APIExportReference points at an APIExport.
type APIExportReference struct {
	// path of the workspace that the export is in. If it is left out, it is the
	// workspace of the object that refers to it.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Path string `json:"path,omitempty"`

	// export is the name of the APIExport.
	//
	// +required
	Export string `json:"export"`
}

// APIBindingLifecycle says how long default bindings are looked after.
// +kubebuilder:validation:Enum=InitializeOnly;Maintain
type APIBindingLifecycle string

// The lifecycles of default bindings.
const (
	// APIBindingLifecycleInitializeOnly makes them once.
	APIBindingLifecycleInitializeOnly APIBindingLifecycle = "InitializeOnly"
	// APIBindingLifecycleMaintain keeps them as they should be.
	APIBindingLifecycleMaintain APIBindingLifecycle = "Maintain"
)

// AuthenticationConfigurationReference points at a WorkspaceAuthenticationConfiguration
// in the same workspace.
type AuthenticationConfigurationReference struct {
	// name of the WorkspaceAuthenticationConfiguration.
	//
	// +required
	Name string `json:"name"`
}

// WorkspaceTypeStatus says where the virtual workspaces of the type are.
type WorkspaceTypeStatus struct {
	// conditions say whether the type can be used.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// virtualWorkspaces are the addresses at which initializers and terminators find the
	// logical clusters that wait for them: one of each kind for each shard.
	//
	// +optional
	VirtualWorkspaces []VirtualWorkspace `json:"virtualWorkspaces,omitempty"`
}

// VirtualWorkspace is the address of a virtual workspace.
type VirtualWorkspace struct {
	// url of the virtual workspace.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	URL string `json:"url"`

	// type says which logical clusters are found there.
	//
	// +optional
	Type VirtualWorkspaceKind `json:"type,omitempty"`
}

// VirtualWorkspaceKind says whom a virtual workspace of a type is for.
// +kubebuilder:validation:Enum=initializing;terminating
type VirtualWorkspaceKind string

// The kinds of virtual workspaces of a type.
const (
	// VirtualWorkspaceInitializing is for initializers.
	VirtualWorkspaceInitializing VirtualWorkspaceKind = "initializing"
	// VirtualWorkspaceTerminating is for terminators.
	VirtualWorkspaceTerminating VirtualWorkspaceKind = "terminating"
)

// WorkspaceTypeList is a list of WorkspaceTypes.
//
// +kubebuilder:object:root=true
type WorkspaceTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []WorkspaceType `json:"items"`
}

// GetConditions returns the conditions in the status.
func (t *WorkspaceType) GetConditions() conditions.Conditions { return t.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (t *WorkspaceType) SetConditions(c conditions.Conditions) { t.Status.Conditions = c }
