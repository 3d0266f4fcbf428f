// Package examples is a module of its own: what others write against a workspace, with
// the libraries they use for any Kubernetes cluster.
//
//	notes      client-go
//	greeter    a controller, with controller-runtime
//	chart      a Helm chart
//
// docs/clients.md shows them at work, and a test runs what it shows.
package examples
