// Package pathannotation is the admission plugin for the annotation kcp.io/path: it is
// always the canonical path of the workspace an object is in, whatever a client sends.
// Objects that are referred to by path always have it, others only if somebody has put
// it there.
//
// The one of a LogicalCluster is where canonical paths come from. It stays what it was
// when the system, or somebody privileged, made the object. A path outside of root makes it
// the top of a tree of its own, and is refused if it leads elsewhere.
package pathannotation
