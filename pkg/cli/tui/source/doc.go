// Package source is where the live tree comes from: a server that is watched.
//
// Each method answers one command of the model with messages, given to a function as
// they come, and returns when there will be none any more or its context is done.
package source
