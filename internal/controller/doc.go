// Package controller is the runtime that all controllers share: what they watch,
// their queue, their workers, how they retry, and when they are ready.
//
// A controller is a Reconcile function and a list of sources. A source is one
// wildcard watch on a store, served from its watch cache, so that one controller
// looks after all clusters with one watch and a fixed number of goroutines. Events
// only say which keys to look at; Reconcile reads the present state itself.
//
//  1. A key is never reconciled twice at the same time.
//  2. An error makes the key come back, later each time. Conflicts come back
//     quietly. After(d) makes it come back without being an error.
//  3. Synced is closed once every source has delivered what existed at the start
//     and all of that has been reconciled once.
//
// What looks at all resources, whatever they are, listens to a Feed instead: one watch
// on each open store, for all that listen.
package controller
