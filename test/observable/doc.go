// Package observable holds the server to what its specification says clients observe: of
// who may do what, of addresses, of APIs and of the end of workspaces, one test for each
// group of statements.
//
// All tests but those about processes share one server. Each makes its own workspaces, so
// that they can run at the same time.
package observable
