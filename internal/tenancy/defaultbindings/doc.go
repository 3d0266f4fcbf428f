// Package defaultbindings makes the APIBindings that workspaces begin with: those of the
// exports that their type, and the types it extends, name as defaults.
//
// What can be decided is decided here, so that a workspace is born with its APIs already
// bound: the same rules decide (package binding) that do when somebody binds later. What
// cannot be, because a schema has never been bound before, say, is left to the controller
// of APIBindings; then the bindings have no status yet. A binding whose export cannot be
// found, or that the creator of the workspace may not bind, is not made, and the plan says
// so.
//
// The package reads and decides. Its callers write, in the transaction that a Plan is
// added to, and tell the catalog: before they do (Announce), so that nobody reads of an
// API that is not served yet, and after.
package defaultbindings
