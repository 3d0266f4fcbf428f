// Package lifecycle tests, in running servers, how others take part in the birth and the
// death of workspaces: what their initializers and terminators see, and may do.
//
// Numbers in reasons are those of the list of observable behaviors that the behavior of
// workspaces is specified by.
package lifecycle
