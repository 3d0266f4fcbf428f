// Package phase decides in which stage of life a logical cluster and its Workspace
// are, and what their conditions, labels and finalizers say about it.
//
//	LogicalCluster   Scheduling -> Initializing -> Ready <-> Inactive
//	                 any -> Terminating -> Deleting, when deleted
//	Workspace        Scheduling -> Initializing -> Ready <-> Unavailable
//	                 any -> Terminating -> Deleting, when deleted
//
// The functions are pure: they take what was observed, the clock included, and return
// the object as it should be, with as many steps taken as can be taken now. What they
// are given may come from a cache and is never changed. If nothing is to be changed
// they return the very object they were given, so comparing pointers tells whether
// there is something to store. Metadata and status may both differ.
//
// Waiting always shows in a condition that says for what.
package phase
