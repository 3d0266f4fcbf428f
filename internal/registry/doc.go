// Package registry knows which servers a user runs on this machine, wherever their root
// directories are.
//
// A server registers when it is ready and is listed for as long as its process lives:
// each entry is a file that its process has locked, so that the entry of a process that
// was killed counts no longer, and goes when somebody looks. What cannot be listed is not
// lost: the root directory of a server says by itself who holds it.
//
// Entries lie where the system keeps what a user's processes share while they run, or
// else in a directory of the user among the temporary files. Only its owner can write
// there, since processes are ended for what is listed.
package registry
