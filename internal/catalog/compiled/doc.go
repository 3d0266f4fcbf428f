// Package compiled turns a definition into what serves requests for it: validators,
// CEL programs, converters, field managers, registries and request scopes.
//
// An API is made from a definition alone and knows no cluster: the cluster of a
// request is in its context and is of interest only to the storage below. So one API
// serves all clusters that have the definition.
//
// Each version is compiled on its first request, and the schema for field management
// on the first write. An error in compiling is returned to the request that caused
// it and not remembered, since it may come from opening the store.
//
// The package decides neither which definitions a cluster has nor which requests
// reach them; it gives handlers what they need.
package compiled
