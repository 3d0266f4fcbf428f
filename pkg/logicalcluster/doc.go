// Package logicalcluster is the vocabulary of tenancy: the name of a logical
// cluster, the path of a workspace, and how a request carries its cluster.
//
// A Name identifies one logical cluster ("root", "system:admin", a 16-character
// identifier). A Path is what people type ("root:team:app") and is resolved to a
// Name by routing. The two are different types, neither is a string, and both can
// only be made by parsing, so that nothing unparsed can reach a storage key.
//
// The package knows nothing about servers or storage and links no Kubernetes
// server code; clients may import it.
package logicalcluster
