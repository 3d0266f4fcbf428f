// Package apibinding brings what APIExports offer into the workspaces that bind it.
//
// Package binding decides; this package gathers what it decides on, writes what comes of
// it in one transaction, and tells the catalog:
//
//	gather ─► binding.Decide ─► catalog told ─► transaction ─► catalog told of its version
//
// The transaction holds the APIBinding and the locks in the LogicalCluster. So a crash leaves
// bindings that are bound or not, and none in between. The definitions that schemas have
// become if nobody has bound them before are written first, one by one: what an export offers
// may be more than fits into a transaction. Without a binding they mean nothing.
//
//  1. What the catalog serves of a binding is status.boundResources, by the definitions
//     in the logical cluster system:bound-crds. Schemas and exports may go.
//     A binding that would be bound as soon as somebody looks at it is created bound, in one
//     transaction with its locks (Complete). Whatever stands in the way makes it be created as
//     it is, and the controller says what that was.
//  2. Whoever takes or gives back resources of a workspace, here and in the controller of
//     CustomResourceDefinitions, does so in turn (controller.ClusterLocks) and in a
//     transaction that requires the LogicalCluster and the binding not to have changed. What
//     others have is read after the LogicalCluster.
//  3. A binding hears of changes of its export, and of what that offers, through an index
//     by the reference as it is written; one that waits for names hears of every change in
//     its workspace.
//  4. A binding that is being deleted gives its resources for reading and deleting only,
//     until their instances are gone, or have passed to a binding that wants the same.
//  5. Definitions of system:bound-crds that nothing refers to are removed when they are
//     half an hour old. Who is about to refer to one says so first (collector.use), and his
//     transaction requires that it is there.
//
// What is kept of a binding at rest is its reference and the UIDs of its schemas.
package apibinding
