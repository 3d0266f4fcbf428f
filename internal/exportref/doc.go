// Package exportref finds the APIExports that bindings, endpoint slices and workspace
// types refer to: by a path, which may be the name of a logical cluster, and a name.
//
// What a reference means is decided here and nowhere else. An empty path is the cluster
// of the object that refers, and every other path is walked from root, or is a cluster
// name. It is never the wildcard.
//
// A reference that leads nowhere is an error that IsNotFound knows, and that is the same
// whether the workspace or the export is missing: who may not bind must not learn which
// of them exist.
package exportref
