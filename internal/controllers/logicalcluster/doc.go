// Package logicalcluster is the controller of LogicalCluster objects: it keeps their
// phase, conditions and labels, keeps the creator an admin, and empties those that are
// being deleted. A Recorder beside it remembers in them who has written as a hook.
//
// Emptying goes in rounds:
//
//  1. Nested workspaces are deleted and waited for. Everything else stays: whoever ends
//     them may be a service account here, or act for a workspace type that is here.
//  2. What has finalizers is deleted the ordinary way and waited for, the rest goes at
//     once. What the former may need to go (definitions, namespaces, roles and bindings)
//     stays.
//  3. When nothing is held any more all goes but the policy of the cluster, which its
//     terminators may need.
//  4. When these are done, too, one transaction removes all keys of the cluster, its
//     LogicalCluster and the finalizer of its Workspace.
//
// Terminators do not hold up the first three. A round that has to wait says for what in
// conditions, and the next one comes when something in the cluster has changed. All that is
// known is in etcd: a process that ends between two writes leaves to the next one what it
// has not done.
package logicalcluster
