// Package client is the plugins' way to the server: the few requests that the
// workspace commands make, each to the workspace that its first argument names.
//
// It decodes JSON into the API types and knows no scheme, no discovery and no typed
// clientset: a command that makes three requests should not pay for tables of
// everything a Kubernetes server may serve. Errors of the server are Kubernetes
// status errors, those of the transport *url.Error. A Client may be used by several
// goroutines at once.
package client
