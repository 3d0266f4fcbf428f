// Package bootstrap brings the objects that exist from the start into storage: it
// compares what should be there with what is there, in memory, and writes the
// difference in as few transactions as possible.
//
// Objects are compared by everything but the metadata that the server or users may
// add; labels and annotations are compared key by key. An object that carries the
// annotation bootstrap.kcp.io/create-only is left alone once it exists. Objects that
// are not wanted any more are not removed.
package bootstrap
