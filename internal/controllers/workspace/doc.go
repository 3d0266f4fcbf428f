// Package workspace is the controller of Workspace objects: it finds a place for new
// ones and bears them there, mirrors the state of their logical clusters, and begins
// the end of deleted ones.
//
// A birth is one transaction: the Workspace with its place and all objects of the new
// logical cluster, or nothing. It depends on the parent's LogicalCluster being as it
// was seen, so that nothing is born into a workspace that has begun to go.
//
// What is decided is told in packages tenancy/birth and tenancy/phase; this package
// gathers what they need and writes what they say.
package workspace
