// Package kubeconfig reads and edits the kubeconfig of the user for the workspace
// commands: which server and workspace a context leads to, switching to another
// one, going back, and contexts with a name of their own.
//
// Invariants:
//
//  1. The entries "workspace.kcp.io/current" and "workspace.kcp.io/previous" are
//     ours, and so are the extensions "workspace.kcp.io/history" of the first and
//     "workspace.kcp.io/pins" of the kubeconfig as a whole. Every other cluster or context
//     is written only if the user asked for one of that name. Users are written, and
//     entries removed, only for a server that comes and goes with them (Merge), and which
//     the extension "workspace.kcp.io/server" names.
//  2. All of a context (server, authority, user) comes from one context, and an
//     entry made from it stays on the server of that context: credentials are never
//     sent to a server they were not meant for.
//  3. A change is read, made and written under the same lock file that kubectl uses.
//     A file is replaced as a whole or left alone, keeps its mode, and is not touched
//     if nothing changes.
//
// The edits are pure functions on the parsed file; Store applies them to the files.
package kubeconfig
