// Package openapi publishes the schemas of the APIs a logical cluster serves:
// /openapi/v2, one document for everything, and /openapi/v3, an index and one document
// for each group version. Clients need them to explain and validate objects and to
// compute patches.
//
// Nothing is built before it is asked for, and nothing is kept for a cluster. The
// schemas of a definition are built once for its content, a document once for the
// content of all definitions in it. Only encoded documents and parts of them are kept,
// those used last, up to a number of bytes: Go values that describe an API take ten
// times the memory of their JSON.
//
// The contract:
//
//  1. ETags and the hashes in URLs follow from the content of the definitions and the
//     build of the program. The index, and an answer that a client's copy is still
//     good, therefore cost no more than hashing names.
//  2. What is built in wins over definitions that claim the same path, except in the
//     core group, where a definition wins, as it does when it is served. Of shared
//     schemas, such as ObjectMeta, the built-in ones win.
//  3. A definition whose schemas cannot be built is left out and logged, so that it
//     does not take the documents of its neighbours away.
//  4. Without a cluster, or with the wildcard, v2 describes the built-in APIs and v3
//     does not exist.
package openapi
