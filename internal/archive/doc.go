// Package archive puts the whole state of a server that has stopped into one file, and
// makes it the state of a new one.
//
// What is in it: all objects, at the resource versions they had, and what the server has
// made for itself in its root directory: the keys of service account tokens and the
// serving certificate, so that tokens stay valid and clients go on trusting it. What is
// not: kubeconfig and tokens of admins, which each root directory has for itself; logs;
// and files that somebody else has made and named by flags, such as the keys of an
// encryption at rest, without which encrypted objects cannot be read. An archive is as
// secret as the server itself.
//
// The contract:
//
//  1. Save replaces the file as a whole, or leaves it as it was (package place).
//  2. Restore refuses what a newer version has written, what is damaged and what is no
//     archive, before it has changed anything; and a directory that has data already.
//     Damaged is also, whatever checksums say, what etcd could not read: it would end the
//     process. What it has written when it fails in the middle, because a disk is full, counts for
//     nothing: a directory has data when the last step has been done.
//  3. Nobody else uses the directories meanwhile. Package launch sees to that.
//
// The file is a compressed tar archive. Its first entry says which versions of everything
// wrote it. The database is without history and without free pages, and begins a new
// cluster of etcd; no log of it is kept, most of which would be empty.
package archive
