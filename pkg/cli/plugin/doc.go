// Package plugin makes a program of a command: it adds the connection and logging
// flags that all of them share, the version, and help that shows what people type
// ("kubectl ws"), not what the program is called.
//
// The shared flags work at every place of the command line. Help of a command with
// subcommands folds them away, into the subcommand "options"; that of others shows them
// last.
package plugin
