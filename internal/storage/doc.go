// Package storage is the tenancy seam: all that multi-tenancy adds to upstream's
// storage, and the only place where a logical cluster enters a storage key.
//
// A Layer is one etcd, embedded or external. Each Resource opened on it gets one
// etcd store and one watch cache that serve the objects of all clusters, and above
// them the seam, which implements upstream's storage.Interface:
//
//  1. Keys come in as upstream registries build them, relative to the prefix of
//     the resource, and get the cluster of the context inserted behind it:
//     /registry/<group>/<resource>/[<identity>/]<cluster>/[<namespace>/]<name>.
//  2. A context without a cluster is an error. The wildcard cluster leaves the
//     prefix as it is and is refused by everything but lists and watches.
//  3. Create and update set the annotation kcp.io/cluster, after field management
//     has run: nobody owns it and nobody can change it. The watch cache reads it
//     back to key its entries.
//  4. Reads at resource version "0" come from the watch cache and share memory
//     with it. Callers do not change what they get.
//  5. Once asked to, the layer counts the objects of each cluster with every write,
//     and creates no more than a limit allows, however many try at once. It counts
//     what it writes itself: where other processes write to the same etcd the counts
//     are off by what they do, until the next start.
//  6. A guard in the context hides what its bearer may not see from gets, updates and
//     deletions of single objects. That is decided on the object that is there at the
//     moment of the write, and first of all. Readers, which the server reads with for
//     itself, see everything.
//  7. Who has asked for it (CompleteCreates) may complete a single object in the moment
//     before it is created, with further writes in the same transaction. To its creator it
//     is one create, held to all that creates are held to; what the rest requires and does
//     not find is not his error.
//
// Beside single objects a Layer writes batches (all or nothing, one transaction)
// and removes all keys of a cluster. The package knows nothing of any API.
package storage
