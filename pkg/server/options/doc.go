// Package options turns the command line of a server into what the server is made
// from.
//
// There are three stages:
//
//	Options    what was asked for: flags with their defaults, one group a file
//	Completed  what that means: plain data, paths absolute, defaults filled in
//	Prepared   Completed plus what was taken hold of: the listener, the certificate
//
// A caller makes Options with NewOptions, changes them by flags (AddFlags) or
// directly, and completes them once. Nothing here opens a file for writing, listens
// or starts anything; reading files named by flags is left to whoever needs their
// content, with the exception of checks that a combination makes sense.
//
// Some flags are accepted although nothing heeds them, so that command lines written
// for other versions keep working. They are listed in effect.go; their help text says
// so, and Completed.WithoutEffect names the ones that were set.
package options
