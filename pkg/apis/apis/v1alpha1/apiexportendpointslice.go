package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
)

// APIExportEndpointSlice says where the objects of those who have bound an export are
// found: one address for each shard that has any of them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Export",type=string,JSONPath=`.spec.export.name`
// +kubebuilder:printcolumn:name="Partition",type=string,JSONPath=`.spec.partition`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type APIExportEndpointSlice struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec APIExportEndpointSliceSpec `json:"spec"`

	// +optional
	Status APIExportEndpointSliceStatus `json:"status,omitzero"`
}

// APIExportEndpointSliceSpec says which addresses are wanted.
type APIExportEndpointSliceSpec struct {
	// export is the APIExport. It cannot be changed.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="APIExport reference must not be changed"
	APIExport ExportBindingReference `json:"export"`

	// partition is the name of a Partition, in the same workspace, that picks shards.
	// Without one all are wanted.
	//
	// +optional
	Partition string `json:"partition,omitempty"`
}

// APIExportEndpointSliceStatus holds the addresses.
type APIExportEndpointSliceStatus struct {
	// endpoints are the addresses.
	//
	// +optional
	// +listType=map
	// +listMapKey=url
	APIExportEndpoints []APIExportEndpoint `json:"endpoints,omitempty"`

	// conditions say what is missing.
	//
	// +optional
	Conditions conditions.Conditions `json:"conditions,omitempty"`

	// shardSelector is the selector of the partition; empty means all shards.
	//
	// +optional
	ShardSelector string `json:"shardSelector,omitempty"`
}

// APIExportEndpoint is the address of one shard.
type APIExportEndpoint struct {
	// url of the virtual workspace of the export, without /clusters.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	URL string `json:"url"`

	// shards says which shards the address is for. Without it, the one it is on.
	//
	// +optional
	Shards *EndpointShards `json:"shards,omitempty"`
}

// EndpointShards picks shards.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.matchAll) && self.matchAll && has(self.selector))",message="matchAll and selector are mutually exclusive"
type EndpointShards struct {
	// matchAll picks all shards.
	//
	// +optional
	MatchAll bool `json:"matchAll,omitempty"`

	// selector picks shards by their labels.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// APIExportEndpointSliceList is a list of APIExportEndpointSlices.
//
// +kubebuilder:object:root=true
type APIExportEndpointSliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []APIExportEndpointSlice `json:"items"`
}

// GetConditions returns the conditions in the status.
func (s *APIExportEndpointSlice) GetConditions() conditions.Conditions { return s.Status.Conditions }

// SetConditions replaces the conditions in the status.
func (s *APIExportEndpointSlice) SetConditions(c conditions.Conditions) { s.Status.Conditions = c }
