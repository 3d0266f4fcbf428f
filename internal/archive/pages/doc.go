// Package pages reads a database of bbolt, which etcd keeps its data in, without trusting
// it.
//
// bbolt maps its file into memory and follows what it finds there: in a file that was cut,
// or in which something else lies, it reads what is not mapped, and the process is killed.
// Whoever gets a database from elsewhere has it checked here first, by reads that can
// fail. What is found to be sound, bbolt can read and write.
//
// A file is pages of one size, and begins with two meta pages, of which the one with the
// higher number of a transaction counts. That names the page of the root bucket, the page
// that lists the free ones, and how many pages there are. A bucket is a tree of pages in
// the order of keys, or, if it is small, one page within the value that stands for it. The
// numbers in it are in the order of bytes of the machine.
package pages
