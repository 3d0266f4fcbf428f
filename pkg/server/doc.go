// Package server puts the parts together: it is the one place that knows them all.
//
// It reads as lists. chain.go says what a request passes on its way, startup.go what
// has to be there before the first request, controllers.go who works in the background;
// access.go, generic.go, apis.go and virtual.go put together what serves, exports.go,
// bindings.go, claims.go and ownapis.go what shares APIs between workspaces. What a server
// is told is in package options. What each of these does is told in its own package.
//
// New assembles a Server and starts its etcd; Run serves until its context ends. A
// process may run several servers.
package server
