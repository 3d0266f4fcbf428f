// Package garbagecollector is the controller that deletes what has lost its owners: one
// for all workspaces, with the rules of Kubernetes' own garbage collector.
//
// A Graph hears of every object of every store (controller.Feed) and remembers those that
// have owner references, those that these refer to, and those whose deletion waits for
// their dependents; nothing else, so that objects without owners cost nothing here. It
// says which objects to look at, and the controller decides by what is stored:
//
//  1. Objects are known by cluster and UID. An owner in another cluster does not exist.
//  2. An object goes when all its owners are gone. An owner is gone when etcd says so,
//     not the watch cache, and not because nothing has been heard of it.
//  3. If an owner is left, references to those that are gone are removed instead.
//  4. An object that is deleted in the foreground stays until no dependent blocks it; its
//     dependents are deleted. One that is deleted with orphans stays until its dependents
//     do not refer to it any more.
//  5. Whatever lets go of an owner for good waits until the Graph has heard of all that
//     was written before (see Progress): a dependent nobody knows of yet would be deleted
//     instead of orphaned.
//  6. An object with an owner of an unknown kind is left alone until the kinds of its
//     cluster change.
//
// Events and LogicalClusters are never collected. Writes go to the stores directly, on
// the condition that the owner references are still those that the decision was based on.
package garbagecollector
