// Package examples is a module of its own: what others write against a workspace, with
// the libraries they use for any Kubernetes cluster.
//
//	notes        client-go
//	greeter      a controller, with controller-runtime
//	chart        a Helm chart
//	databases    an API for other workspaces, and one controller for all of them
//	initializer  a controller that prepares workspaces before they are ready
//	terminator   a controller that winds them up before they are gone
//	hooks        what initializers and terminators have in common
//
// docs/clients.md and docs/apis.md show the first four at work, and a test runs what they
// show. The others have a README, and tests that run them.
package examples
