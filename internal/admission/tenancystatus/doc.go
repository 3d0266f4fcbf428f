// Package tenancystatus is the admission plugin that leaves the status of Workspaces
// and WorkspaceTypes to the system and its admins: an admin of a workspace has every
// right on the objects in it, but the phase of a child is not theirs to set.
//
// It stands for the maximal permission policy of the export of tenancy.kcp.io, and
// goes when the API is served from that export.
package tenancystatus
