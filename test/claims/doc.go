// Package claims tests, in running servers, what providers of APIs get of the workspaces
// that have bound them by permission claims: how answers to claims become labels, what
// bindings say of it, and exactly which objects a provider can see and change through his
// virtual workspace.
package claims
