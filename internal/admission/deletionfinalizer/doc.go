// Package deletionfinalizer is the admission plugin that keeps the finalizer on
// LogicalClusters which guards what is in them: nobody can take it off one that is
// alive, and only the system off one that is being deleted.
package deletionfinalizer
