// Package workspace is the admission plugin for Workspaces: whose they are, who may
// say where they are, and what may never change.
//
// A workspace holds on to its logical cluster from the first write on, with a finalizer.
// On create the creator and the parent's required groups are written into
// annotations; ordinary callers can neither choose nor change them. Which type a
// workspace gets is another plugin's (workspacetypeexists).
package workspace
