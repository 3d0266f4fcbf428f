// Package hookcontent tests, in running servers, what initializers and terminators reach in
// the workspaces that wait for them: by the permissions of their type, as the creator of the
// workspace, as long as it is their turn, and by no other way.
//
// Numbers in reasons are those of the list of observable behaviors that the behavior of
// workspaces is specified by.
package hookcontent
