// Package workspacetype is the controller that says in the status of WorkspaceTypes where
// the controllers of their initializers and terminators find the workspaces that wait for
// them: on each shard that has an address for it, whether the type has such a hook or not,
// since workspaces may still wait for one that it had.
package workspacetype
