// Package v1alpha1 holds version v1alpha1 of the API group apis.kcp.io: the kinds by
// which a workspace offers APIs to others, and others take them.
//
// An APIResourceSchema describes one resource, an APIExport offers resources by their
// schemas, an APIBinding takes what an export offers into its own workspace, an
// APIExportEndpointSlice says where the provider finds the objects of all who have bound,
// and an APIConversion says how objects change between the versions of a schema.
//
// Exports and bindings are stored in v1alpha2 and served in both versions; what one
// version cannot say the other keeps in annotations.
//
// These are wire formats. Everything that validates them is in the markers, which
// `make generate` turns into the CustomResourceDefinitions of config/crds; rules that
// need more than the object itself are admission's.
//
// +kubebuilder:object:generate=true
// +groupName=apis.kcp.io
package v1alpha1
