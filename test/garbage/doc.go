// Package garbage tests what happens to objects that have owners, in running servers: the
// behaviors that upstream's own tests of its garbage collector are about, with objects
// that need no nodes, and what several workspaces add to them.
package garbage
