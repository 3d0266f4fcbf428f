// Package workspace finds out why a workspace is not ready, not gone, or not to be
// reached.
//
// Gather asks the server: the Workspace in its parent, the LogicalCluster inside, the
// types of the hooks that are waited for, the bindings, the shard, and while it is
// deleted what is left in it. Judge decides from that alone what blocks. Where a nested
// workspace holds it, that one is diagnosed as well: it has the true blocker.
package workspace
