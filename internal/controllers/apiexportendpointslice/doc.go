// Package apiexportendpointslice holds the controllers of APIExportEndpointSlices.
//
// One gives every export a slice of its name, and makes it anew when it is deleted, unless
// the export has the annotation or label apiexports.apis.kcp.io/skip-endpointslice. The
// slice goes with the export, as garbage.
//
// The other says in the status of every slice, whoever made it, where the objects of the
// export are found:
//
//  1. The address of a shard is there while some binding on the shard refers to the export,
//     whatever its phase, and the partition of the slice, if it names one, has the shard.
//  2. An export or a partition that cannot be found is said in a condition, and leaves no
//     addresses.
//  3. Everything is heard of: nothing is looked at again after a time.
//
// Bindings are not counted, since they are many. Of all that refer to an export eight are
// remembered, the witnesses, and that there are more; only when all eight are gone are
// others looked for among all bindings. The new ones are chosen at random, so that this
// happens some four times when ten thousand bindings go one after the other, and never
// where there are no more than eight.
package apiexportendpointslice
