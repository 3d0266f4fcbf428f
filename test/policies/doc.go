// Package policies tests admission policies against a whole server: what upstream's own
// tests of them check, where those need no pods, and what is only so with workspaces.
package policies
