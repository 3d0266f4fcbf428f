// Package ephemeral is the verb "kcp run": a control plane for as long as a command lives.
//
// The server is in this process, in memory, on a free port of the loopback interface; a
// temporary directory holds its files. Nothing of it is shared, so any number can run at the
// same time. What a run comes to is this, in order:
//
//  1. Everything that can be wrong is looked at that needs no server: flags, the program,
//     manifests, the place for artifacts.
//  2. A watcher is started (package watcher), then the directory is made and the server
//     started in it, from an archive if one is given.
//  3. The workspace is made, then what is bound and what is applied, each awaited.
//  4. The program runs (package job), with an environment in which kubectl and tests of
//     controllers find the workspace.
//  5. What is to be kept is gathered, the server stopped and saved, the directory removed.
//
// However far it came, the last step is done, by this process or, if that was killed, by the
// watcher. Signals before the fourth step end the run, later they are the program's.
//
// With --detach the same happens in another process of this program, which has no command
// and reports to this one when it is ready.
//
// What the command says itself goes to the error stream; the output is the program's.
package ephemeral
