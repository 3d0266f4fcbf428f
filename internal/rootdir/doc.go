// Package rootdir takes hold of the directory a server keeps its files in.
//
// Invariants:
//
//  1. At most one process holds a directory. The operating system keeps the lock, so
//     that one of a process that was killed is gone with it; nothing has to be cleaned
//     up and no process identifier is trusted.
//  2. A directory that a newer layout was written into is not touched.
//  3. A directory that Open has made is removed again by Close if nothing was put
//     into it, so that a start that fails leaves no trace.
//
// A scratch directory is for what is not to outlive its process, and lies in memory where
// that can be had.
//
// Two files are ours: "kcp.lock" says who holds the directory and is meant for people
// and other commands, "layout" says which version wrote it. The package knows nothing
// of what else lies there.
package rootdir
