// Package maintainedbindings is the controller that looks after default API bindings in
// workspaces that live, where the workspace type that names them says so
// (spec.defaultAPIBindingLifecycle: Maintain). Bindings that are missing are made, by the
// server and not by whoever has created the workspace; those that are there get what they
// refer to and their answers to claims put right. Until a workspace has its first bindings
// it belongs to its neighbor, package defaultbindings.
//
//  1. Nothing is remembered of a workspace. Of types, those that maintain bindings are
//     known with the names of the exports; where there are none, nothing is looked at.
//  2. When a type or an export has changed, a sweep looks through all LogicalClusters in
//     memory for the workspaces that it concerns, at most once a second however many
//     changes there are. Each type is resolved once for all its workspaces.
//  3. What a sweep finds is looked at in portions, type by type in turn, so that a single
//     workspace, or the few of another type, need not wait until ten thousand are done.
//  4. Nothing is retried by the clock: what a binding can lack is an export, and its
//     creation is a change.
package maintainedbindings
