package v1alpha1

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// LogicalClusterName is the name of the one LogicalCluster in a logical cluster.
const LogicalClusterName = "cluster"

// LogicalCluster describes the logical cluster it lives in. There is exactly one,
// and it is called "cluster".
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="The phase of the logical cluster, such as Initializing or Ready"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.URL`,description="The address of the logical cluster"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type LogicalCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	// +kubebuilder:default={}
	Spec LogicalClusterSpec `json:"spec,omitempty"`

	// +optional
	// +kubebuilder:default={}
	Status LogicalClusterStatus `json:"status,omitempty"`
}

// LogicalClusterSpec says whose the logical cluster is and how it starts and ends.
type LogicalClusterSpec struct {
	// directlyDeletable lets users delete the logical cluster from inside. Otherwise
	// it is deleted through its owner only.
	//
	// +optional
	// +kubebuilder:default=false
	DirectlyDeletable bool `json:"directlyDeletable,omitempty"`

	// owner is the object whose life decides about that of the logical cluster.
	// Logical clusters without a workspace, such as root, have none.
	//
	// +optional
	Owner *LogicalClusterOwner `json:"owner,omitempty"`

	// createdBy is the user who created the logical cluster. It never changes.
	//
	// +optional
	CreatedBy *authenticationv1.UserInfo `json:"createdBy,omitempty"`

	// initializers are those that must finish before the logical cluster is ready.
	// They are set at creation and copied to the status from there.
	//
	// +optional
	Initializers []Initializer `json:"initializers,omitempty"`

	// terminators are those that must finish before the logical cluster may go. They
	// are set at creation and copied to the status from there.
	//
	// +optional
	Terminators []Terminator `json:"terminators,omitempty"`
}

// LogicalClusterOwner points at an object in another logical cluster.
type LogicalClusterOwner struct {
	// apiVersion is the group and version of the owner, such as
	// tenancy.kcp.io/v1alpha1.
	//
	// +required
	// +kubebuilder:validation:Pattern=`^([^/]+/)?[^/]+$`
	APIVersion string `json:"apiVersion"`

	// resource is the plural name of the owner's resource, such as workspaces.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Resource string `json:"resource"`

	// name is the name of the owner.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// namespace is the namespace of the owner, empty if it has none.
	//
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// cluster is the name (not the path) of the logical cluster the owner is in.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Cluster string `json:"cluster"`

	// uid is the UID of the owner.
	//
	// +required
	UID types.UID `json:"uid"`
}

// LogicalClusterStatus says how far the logical cluster is.
type LogicalClusterStatus struct {
	// URL is the address of the logical cluster, with its name, not its path.
	//
	// +optional
	URL string `json:"URL,omitempty"`

	// phase is the stage of life the logical cluster is in.
	//
	// +optional
	// +kubebuilder:default=Scheduling
	Phase Phase `json:"phase,omitempty"`

	// conditions say what holds the logical cluster up, or that nothing does.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// initializers are those that have not finished yet. Each removes itself.
	//
	// +optional
	Initializers []Initializer `json:"initializers,omitempty"`

	// terminators are those that have not finished yet. Each removes itself once the
	// logical cluster is being deleted.
	//
	// +optional
	Terminators []Terminator `json:"terminators,omitempty"`
}

// LogicalClusterList is a list of LogicalClusters.
//
// +kubebuilder:object:root=true
type LogicalClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []LogicalCluster `json:"items"`
}

// GetConditions returns the conditions in the status.
func (l *LogicalCluster) GetConditions() conditions.Conditions { return l.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (l *LogicalCluster) SetConditions(c conditions.Conditions) { l.Status.Conditions = c }
