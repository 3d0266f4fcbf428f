// Package apihash makes the names that objects of apis.kcp.io are tied together by:
// identities of exports, labels that name an export, names of default bindings.
//
// Clients compute the same names, so they never change. The package is pure.
package apihash
