// Package deletionfinalizer is the admission plugin that keeps the finalizer on objects
// which guards what belongs to them: the content of LogicalClusters, the instances of what
// APIBindings bind. Nobody can take it off one that is alive, and only the system off one
// that is being deleted.
package deletionfinalizer
