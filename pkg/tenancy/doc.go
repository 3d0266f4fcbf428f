// Package tenancy holds the rules about workspaces that need more than one object to
// decide: which type a new workspace has and what that type builds on, which types
// may be above and below each other, what a workspace waits for and at which address it
// is.
//
// The words:
//
//   - A Type is a WorkspaceType where it was found. Its name is written
//     "<canonical path>:<name>" in constraints and messages, and "<cluster>:<name>"
//     as an initializer or terminator. The two differ below root.
//   - A Set is a Type with all the types it extends, directly or not: its aliases.
//     Everything that is inherited is a walk over the aliases.
//   - A Place is a logical cluster by both its names, cluster and canonical path.
//
// The package looks things up through the readers Types, Clusters and Paths and does
// no other I/O. In the server it is on the way of every workspace creation, so there the
// readers answer from memory and what they return is shared: nothing here changes it.
// What a request is to blame for is an error IsUnresolved knows; every other error says
// that something could not be found out and may be retried.
//
// The server decides by these rules; clients that read through the API use them to tell
// beforehand what it will decide, and why. So the package links nothing of a server.
package tenancy
