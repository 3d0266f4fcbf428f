// Package v1alpha1 holds the kinds of tenancy.kcp.io/v1alpha1: Workspace, what people
// create to get a logical cluster; WorkspaceType, what decides how a workspace of that
// type is made and what may be in it; and WorkspaceAuthenticationConfiguration, which
// lets users of a further issuer into workspaces of a type. With them come the labels,
// annotations and condition types that go with workspaces.
//
// A Workspace lives in the logical cluster of its parent, and describes another one;
// phases, initializers and terminators are those of the LogicalCluster there
// (core.kcp.io/v1alpha1) and are declared with it.
//
// These are wire formats. Everything that validates them is in the markers, which
// `make generate` turns into the CustomResourceDefinitions of config/crds; rules that
// need more than the object itself are admission's.
//
// +kubebuilder:object:generate=true
// +groupName=tenancy.kcp.io
package v1alpha1
