// Package tui is the live tree of workspaces on a terminal.
//
// The package model decides what is shown and what is asked for, without doing either.
// This package does it: it gives the model what the terminal says, turns the commands of
// the model into requests, and gives it the answers. What the requests are it is told in
// a Config: a Source that is watched, and Actions that may be missing, so that a file
// written of a server can be shown in the same way.
//
// The contract: whatever ends the program, a key, a signal, a bug in it, the terminal is
// left as it was found, and nothing that was asked for goes on after Run has returned.
package tui
