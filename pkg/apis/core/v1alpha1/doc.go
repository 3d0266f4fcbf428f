// Package v1alpha1 holds the kinds of core.kcp.io/v1alpha1: LogicalCluster, which
// every logical cluster has exactly one of, and Shard, which describes a server that
// logical clusters live on. With them come the phases, labels, annotations,
// finalizers and condition types that go with logical clusters.
//
// These are wire formats. Everything that validates them is in the markers, which
// `make generate` turns into the CustomResourceDefinitions of config/crds; rules that
// need more than the object itself are admission's.
//
// +kubebuilder:object:generate=true
// +groupName=core.kcp.io
package v1alpha1
