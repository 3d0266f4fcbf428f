// Package binding decides what an APIBinding gives to its workspace, and what its status
// says. It performs no I/O.
//
//	""  ──►  Binding  ──►  Bound
//
// Binding lasts while anything of the export cannot be bound; Bound is never left again.
// What callers may rely on:
//
//  1. What a binding gives is status.boundResources, in every phase, and nothing else. A
//     resource that the export drops stays there.
//  2. A resource of a workspace is given by one binding or one CustomResourceDefinition.
//     The LogicalCluster says by which, in an annotation (Locks). Whoever takes a resource,
//     or names, does so in a transaction that requires the LogicalCluster to be as it was
//     when the decision was taken: that is what excludes two from taking the same. Whoever
//     goes gives back in the transaction by which it goes.
//  3. What has been bound stays bound: a conflict, a missing export or a broken schema
//     keeps new things out and changes nothing of the old ones.
//  4. The same input makes the same decision; if nothing has to change, the plan holds the
//     very object of the input.
//
// Claims of permissions are not decided here, but copied from the export.
package binding
