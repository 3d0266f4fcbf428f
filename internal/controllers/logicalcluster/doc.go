// Package logicalcluster is the controller of LogicalCluster objects: it keeps their
// phase, conditions and labels, keeps the creator an admin, and empties those that are
// being deleted. A Recorder beside it remembers in them who has written as a hook.
//
// Emptying goes in rounds. Objects with finalizers, nested workspaces among them, are
// deleted the ordinary way and waited for; a condition says how many there are and
// which finalizers hold them. What they may need to go (definitions, namespaces, roles
// and bindings) stays until then. Once nothing holds anything any more, one
// transaction removes all keys of the cluster, its LogicalCluster and the finalizer of
// its Workspace.
package logicalcluster
