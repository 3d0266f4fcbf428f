// Package view shows the objects of one shared store as one version of one
// definition sees them.
//
// A store holds the objects of a resource as they were stored: for all clusters, in
// whatever versions and by whatever schemas. A Store made here lies above it, one for
// each definition and version, and implements upstream's storage.Interface with
// unstructured objects of that version. It costs a few words of memory, starts
// nothing and keeps nothing.
//
// On the way out objects are pruned and defaulted by the schema of the version they
// were stored in, and then converted. On the way in they are converted to the storage
// version. Objects that stay as they are keep sharing memory with the watch cache,
// which is why callers must not change what lists, watches and gets return.
//
// Stores of Go types are shown as unstructured objects in the same way.
package view
