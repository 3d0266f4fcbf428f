// Package v1alpha2 holds version v1alpha2 of APIExport and APIBinding, of the group
// apis.kcp.io: the version they are stored in. The other kinds of the group, and the
// labels, annotations and conditions that go with them, are in v1alpha1.
//
// +kubebuilder:object:generate=true
// +groupName=apis.kcp.io
package v1alpha2
