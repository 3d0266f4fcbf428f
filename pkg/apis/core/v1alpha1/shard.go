package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// Shard describes a server that logical clusters live on. Shards exist in the root
// workspace only; each registers itself when it starts.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.metadata.labels['region']`,description="The region the shard is in"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.baseURL`,description="The address other servers use"
// +kubebuilder:printcolumn:name="External URL",type=string,JSONPath=`.spec.externalURL`,description="The address users see"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Shard struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ShardSpec `json:"spec,omitempty"`

	// +optional
	Status ShardStatus `json:"status,omitempty"`
}

// ShardSpec holds the addresses of a shard.
type ShardSpec struct {
	// baseURL is the address that other servers, such as the front proxy, use.
	//
	// +required
	// +kubebuilder:validation:Format=uri
	// +kubebuilder:validation:MinLength=1
	BaseURL string `json:"baseURL"`

	// externalURL begins the addresses of workspaces that users see. Admission sets
	// it to baseURL if it is empty. Changing it breaks the kubeconfigs of users unless
	// the old address keeps working.
	//
	// +optional
	// +kubebuilder:validation:Format=uri
	// +kubebuilder:validation:MinLength=1
	ExternalURL string `json:"externalURL,omitempty"`

	// virtualWorkspaceURL begins the addresses of virtual workspaces. Admission sets
	// it to baseURL if it is empty.
	//
	// +optional
	// +kubebuilder:validation:Format=uri
	// +kubebuilder:validation:MinLength=1
	VirtualWorkspaceURL string `json:"virtualWorkspaceURL,omitempty"`
}

// ShardStatus says how the shard does.
type ShardStatus struct {
	// capacity is what the shard can hold.
	//
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// conditions of the shard.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`
}

// ShardList is a list of Shards.
//
// +kubebuilder:object:root=true
type ShardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []Shard `json:"items"`
}

// GetConditions returns the conditions in the status.
func (s *Shard) GetConditions() conditions.Conditions { return s.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (s *Shard) SetConditions(c conditions.Conditions) { s.Status.Conditions = c }
