// Package deletion shows that a deleted workspace leaves nothing behind in etcd, whoever
// writes to it, or to a workspace in it, while it goes.
//
// What a workspace waits for before it goes, and says so, is the business of
// test/contract and of the scripts of test/e2e.
package deletion
