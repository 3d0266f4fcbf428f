// Package namespacelifecycle is the admission plugin that goes with the lives of
// namespaces: nothing is created in one that is missing or being deleted, and those
// that every workspace has cannot be deleted while the workspace lives.
//
// It is upstream's plugin of that name for many logical clusters: same rules, same
// answers, but namespaces are read in the cluster of the request.
package namespacelifecycle
