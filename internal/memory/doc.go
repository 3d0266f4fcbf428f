// Package memory keeps a server small.
//
// Go lets the heap grow to twice of what is live before it collects garbage, and keeps what
// it has grown to. What lives long is then spread thinly over pages that cannot be given
// back. That is right while there is work. A server is at rest most of the time, and what
// its workspaces take then should be what they are, not what it took to make them.
package memory
