// Package rbac holds the roles and bindings that exist from the start, as typed
// objects:
//
//   - SystemAdmin is the policy of the cluster system:admin, in force in every
//     workspace: that of stock Kubernetes and our own;
//   - Root is what the root workspace has beyond that;
//   - WorkspaceAdmin is the binding each workspace is born with.
//
// Each call makes fresh objects, which the caller owns, in the order in which to
// create them. The namespaces that namespaced ones live in are not among them.
//
// The package only says what should be there. Writing it, and keeping it so, is the
// business of the server's start-up.
package rbac
