package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Workspace is a place of its own: an API server, as far as its users can tell. The
// object lives in the parent workspace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp,shortName=ws
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type.name`,description="The type of the workspace"
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.metadata.labels['region']`,description="The region the workspace is in"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="The phase of the workspace, such as Initializing or Ready"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.URL`,description="The address of the workspace"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Workspace struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	// +kubebuilder:default={}
	Spec WorkspaceSpec `json:"spec"`

	// +optional
	// +kubebuilder:default={}
	Status WorkspaceStatus `json:"status,omitempty"`
}

// WorkspaceSpec says what the workspace is to be.
//
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.cluster) || has(self.cluster)",message="cluster cannot be unset"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.URL) || has(self.URL)",message="URL cannot be unset"
type WorkspaceSpec struct {
	// type decides how the workspace is made. It never changes. If it is left out, the
	// type of the parent workspace decides. A mounted workspace has none.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="name is immutable"
	// +kubebuilder:validation:XValidation:rule="has(oldSelf.path) == has(self.path)",message="path is immutable"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.path) || !has(self.path) || self.path == oldSelf.path",message="path is immutable"
	Type *WorkspaceTypeReference `json:"type,omitempty"`

	// location says where the workspace may be put. It is read until it has its place.
	//
	// +optional
	Location *WorkspaceLocation `json:"location,omitempty"`

	// cluster is the name of the logical cluster of the workspace. The system sets it.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cluster is immutable"
	Cluster string `json:"cluster,omitempty"`

	// URL is the address of the workspace. The system sets it.
	//
	// +optional
	URL string `json:"URL,omitempty"`

	// mount makes the workspace a door to something else, which has its own address.
	// It never changes.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="mount is immutable"
	Mount *Mount `json:"mount,omitempty"`
}

// WorkspaceTypeReference points at a WorkspaceType.
type WorkspaceTypeReference struct {
	// name of the WorkspaceType.
	//
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?`
	Name string `json:"name"`

	// path of the workspace that the WorkspaceType is in. If it is left out, the type
	// is searched from here upwards.
	//
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Path string `json:"path,omitempty"`
}

// WorkspaceLocation says where a workspace may be put.
type WorkspaceLocation struct {
	// selector picks shards by their labels. Without it any shard will do.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// Mount says what a mounted workspace shows.
type Mount struct {
	// ref is the object, in the same workspace as the Workspace, whose status.URL is the
	// address of what is mounted and whose status.phase says whether it can be used.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="has(oldSelf.apiVersion) == has(self.apiVersion)",message="apiVersion is immutable"
	// +kubebuilder:validation:XValidation:rule="has(oldSelf.kind) == has(self.kind)",message="kind is immutable"
	// +kubebuilder:validation:XValidation:rule="has(oldSelf.name) == has(self.name)",message="name is immutable"
	Reference ObjectReference `json:"ref"`
}

// ObjectReference points at an object of any kind in the same logical cluster.
type ObjectReference struct {
	// apiVersion of the object.
	//
	// +required
	APIVersion string `json:"apiVersion"`

	// kind of the object.
	//
	// +required
	Kind string `json:"kind"`

	// name of the object.
	//
	// +required
	Name string `json:"name"`

	// namespace of the object, empty if it has none.
	//
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// WorkspaceStatus says how far the workspace is.
type WorkspaceStatus struct {
	// phase is the stage of life the workspace is in.
	//
	// +optional
	// +kubebuilder:default=Scheduling
	Phase corev1alpha1.Phase `json:"phase,omitempty"`

	// conditions say what holds the workspace up, or that nothing does.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// initializers are those that have not finished yet.
	//
	// +optional
	Initializers []corev1alpha1.Initializer `json:"initializers,omitempty"`

	// terminators are those that will have to finish, or have not finished yet, when
	// the workspace is deleted.
	//
	// +optional
	Terminators []corev1alpha1.Terminator `json:"terminators,omitempty"`
}

// WorkspaceList is a list of Workspaces.
//
// +kubebuilder:object:root=true
type WorkspaceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Workspace `json:"items"`
}

// GetConditions returns the conditions in the status.
func (w *Workspace) GetConditions() conditions.Conditions { return w.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (w *Workspace) SetConditions(c conditions.Conditions) { w.Status.Conditions = c }
