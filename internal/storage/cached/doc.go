// Package cached reads the objects that the server itself needs, from the watch
// caches of their stores: logical clusters, workspaces, types, shards, namespaces,
// service accounts, secrets, roles and bindings.
//
// Our own kinds are kept in the caches as their Go types; Kinds says how. Everything
// that is read here shares memory with the caches and must not be changed, and lags
// behind writes by the delivery of a watch event.
package cached
