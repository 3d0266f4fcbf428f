package apiexportendpointslice

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// services is where virtual workspaces of exports begin, below the address of a shard.
const services = "/services/apiexport/"

// Input is what a slice has to say something about. Nothing of it is changed.
type Input struct {
	// Slice is the slice as stored.
	Slice *apisv1alpha1.APIExportEndpointSlice
	// ExportCluster is where the export is; the zero Name if there is none.
	ExportCluster logicalcluster.Name
	// Bound says whether a binding on this shard refers to the export.
	Bound bool
	// Partition is what the slice names; nil if it names none, or if there is none.
	Partition *topologyv1alpha1.Partition
	// Shard is this shard; nil if it is not known.
	Shard *corev1alpha1.Shard
}

// Decide returns the slice as it should be.
func Decide(in Input) *apisv1alpha1.APIExportEndpointSlice {
	slice := in.Slice.DeepCopy()
	slice.Status.APIExportEndpoints, slice.Status.ShardSelector = nil, ""
	exists := decideExport(slice, in.ExportCluster)
	shards, known := decidePartition(slice, in.Partition)
	if known && slice.Spec.Partition != "" {
		slice.Status.ShardSelector = shards.String()
	}
	if !exists || !known || !in.Bound || in.Shard == nil || in.Shard.Spec.VirtualWorkspaceURL == "" {
		return slice
	}
	if shards.Matches(labels.Set(in.Shard.Labels)) {
		slice.Status.APIExportEndpoints = []apisv1alpha1.APIExportEndpoint{{
			URL: URL(in.Shard.Spec.VirtualWorkspaceURL, in.ExportCluster, slice.Spec.APIExport.Name),
		}}
	}
	return slice
}

// URL returns where the objects of an export are found on the shard with the given address
// of virtual workspaces.
func URL(shard string, cluster logicalcluster.Name, export string) string {
	for len(shard) > 0 && shard[len(shard)-1] == '/' {
		shard = shard[:len(shard)-1]
	}
	return shard + services + cluster.String() + "/" + export
}

// decideExport says whether there is an export.
func decideExport(slice *apisv1alpha1.APIExportEndpointSlice, cluster logicalcluster.Name) bool {
	if cluster.Empty() {
		reference := slice.Spec.APIExport
		conditions.MarkFalse(slice, apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound, conditions.SeverityError,
			"APIExport %s|%s not found", reference.Path, reference.Name)
		return false
	}
	conditions.MarkTrue(slice, apisv1alpha1.APIExportValid)
	return true
}

// decidePartition returns which shards are wanted; ok is false if that is not known.
func decidePartition(slice *apisv1alpha1.APIExportEndpointSlice, partition *topologyv1alpha1.Partition) (shards labels.Selector, ok bool) {
	invalid := func(reason, format string, args ...any) (labels.Selector, bool) {
		conditions.MarkFalse(slice, apisv1alpha1.PartitionValid, reason, conditions.SeverityError, format, args...)
		return nil, false
	}
	if slice.Spec.Partition == "" {
		conditions.MarkTrue(slice, apisv1alpha1.PartitionValid)
		return labels.Everything(), true
	}
	if partition == nil {
		return invalid(apisv1alpha1.ReasonPartitionInvalidReference, "Partition %s not found", slice.Spec.Partition)
	}
	shards, err := metav1.LabelSelectorAsSelector(partition.Spec.Selector)
	if err != nil {
		return invalid(apisv1alpha1.ReasonInternalError, "Partition %s has an invalid selector: %v", partition.Name, err)
	}
	conditions.MarkTrue(slice, apisv1alpha1.PartitionValid)
	return shards, true
}
