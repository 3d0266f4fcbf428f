// Package server puts the parts together: it is the one place that knows them all.
//
// It reads as lists. chain.go says what a request passes on its way, startup.go what
// has to be there before the first request, controllers.go who works in the background;
// access.go, generic.go and apis.go put together what serves. What a server is told is
// in package options. What each of
// these does is told in its own package.
//
// New assembles a Server and starts its etcd; Run serves until its context ends. A
// process may run several servers.
package server
