// Package apis tests the kinds of apis.kcp.io in running servers as clients see them: what
// may be written in either version, by whom, and what is read back. What becomes of
// bindings, claims and exports is tested elsewhere.
package apis
