// Package catalog knows which APIs exist in each logical cluster beside the built-in
// ones, and serves them.
//
// It is told of the definitions that every cluster has (Source), of what bindings give
// (Bind, Unbind) and of CustomResourceDefinitions (Set, Delete), and answers, per cluster,
// with an immutable list of what is established there (Definitions, Lookup). Discovery, OpenAPI, garbage collection,
// quota and namespace deletion ask it the same question. Handler serves the resources
// themselves.
//
// What keeps a thousand clusters with the same definition as cheap as one:
//
//  1. Definitions are interned by content, and so are the lists of them. A cluster
//     costs a map entry and a few words for each definition of its own.
//  2. A definition is compiled (package compiled) when it is first asked for, once for
//     all clusters that have it, and forgotten when the last of them drops it.
//  3. One store with one watch cache holds the objects of a resource for all clusters,
//     versions and schemas. What a version of a definition shows of them is a view
//     (package view) that costs nothing at rest.
//
// The catalog decides nothing about definitions: whether names are accepted and a
// definition may be served is decided by a controller and read from the conditions.
// It does not guard the wildcard cluster against unprivileged callers either.
//
// Where a resource is defined more than once, the Source wins over bindings, and these over
// the cluster's own CustomResourceDefinitions.
package catalog
