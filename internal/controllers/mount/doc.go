// Package mount is the controller of mounted workspaces: the phase and the address of such a
// Workspace are those of the object that it mounts.
//
// One controller serves all workspaces. It remembers which objects are mounted (Index), hears
// of every object of every store through the feed, and looks again at a workspace when an
// object of that name has changed, or when its cluster has got other kinds. Workspaces that
// mount nothing cost nothing here.
//
// What is decided is told in packages tenancy/phase and tenancy/mount. Objects are read as
// they are stored, whatever version the Workspace names; status.URL and status.phase are where
// they are in all versions.
package mount
