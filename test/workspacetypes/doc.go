// Package workspacetypes tests, against a whole server, what types make of workspaces:
// which type a workspace gets, what types inherit, who may use them and where, and what is
// bound by default, at first and later.
package workspacetypes
