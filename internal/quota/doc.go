// Package quota keeps account of ResourceQuotas: which there are, what of them is used
// and what is about to be.
//
// A Ledger knows all quotas of all clusters, by place: a namespace of a cluster, or the
// whole cluster. It keeps nothing of clusters and namespaces that have none, and to find
// out that there is none is one look into a map.
//
//  1. Objects are counted: the keys count/<resource>[.<group>], and the older names that
//     Kubernetes has for some of them (Resource). Of those that have Measures counts what
//     upstream says that they use, in the scopes that it knows.
//  2. Before an object is created it is charged to the quotas of its place (Charge):
//     what upstream's CheckRequest lets pass is written to their status, in one
//     transaction for all quotas and all requests that come at the same time. The quotas
//     have to be stored as they are known, so nothing is lost whoever else writes.
//  3. What is charged is pending until it is stored or its request has ended in another
//     way. A change of an object is pending as long as the version that it changes is
//     stored, and the object counts for the most that it may be. Usage is counted anew (Recount) as what is stored and what is pending but not
//     stored, seen at one moment. So it is never too low, and too high for no longer than
//     it takes to find out that something was not created.
//  4. Charges and recounts of one cluster come one after the other, those of different
//     clusters do not wait for each other. There is no goroutine that waits for work.
//
// What the Ledger knows it is told (Hear, Gone, Began, Synced); where it is behind, a
// write fails, and it reads.
package quota
