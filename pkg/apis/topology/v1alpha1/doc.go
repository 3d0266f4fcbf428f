// Package v1alpha1 holds the kinds of topology.kcp.io/v1alpha1: Partition, which picks
// shards, so that a consumer of many of them can divide the work; and PartitionSet,
// which makes one Partition for each distinct value of some labels of the shards.
//
// These are wire formats. Everything that validates them is in the markers, which
// `make generate` turns into the CustomResourceDefinitions of config/crds.
//
// +kubebuilder:object:generate=true
// +groupName=topology.kcp.io
package v1alpha1
