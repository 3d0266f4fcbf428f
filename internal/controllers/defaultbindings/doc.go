// Package defaultbindings is the controller that completes the default API bindings of
// workspaces: those that were not bound at birth. While it works, the LogicalCluster has
// the initializer system:apibindings, and a condition that says what is waited for.
//
// It also adopts workspaces of earlier servers, which had our own APIs without binding
// them: it binds these, and what their type has by default since. Such a workspace is
// known by its LogicalCluster, which does not say yet what has bound its resources.
//
// It remembers the workspaces it works on, and nothing of others.
package defaultbindings
