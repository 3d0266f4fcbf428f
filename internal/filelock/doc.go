// Package filelock locks files, so that processes know of each other who is alive.
//
// The operating system keeps a lock with the open file. One of a process that was killed
// is gone with it: nothing has to be cleaned up, and no process identifier is trusted.
// A lock keeps out other parts of the same process as well. Everybody can read a locked
// file, and whoever has the lock may write into it what others are to know.
package filelock
