// Package logicalcluster is the admission plugin for LogicalClusters. They are made by
// the system; what is left to the admins of a workspace is to remove initializers and
// terminators, to take a Ready workspace offline, and to delete one that says it may be.
//
// What the system's own groups do is not checked.
package logicalcluster
