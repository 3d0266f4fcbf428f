// Package places tests where workspaces are: on which shard, behind which address, mounted
// from elsewhere, taken offline, for some groups only; and the clusters of the system, which
// are no workspaces. It talks to a real server over HTTP.
package places
