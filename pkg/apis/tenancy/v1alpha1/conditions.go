package v1alpha1

import "github.com/forkless/kcp/pkg/apis/conditions"

// Condition types of workspaces, beside those they mirror from their LogicalCluster
// (WorkspaceInitialized and WorkspaceContentDeleted of core.kcp.io/v1alpha1). A
// workspace with a condition that is False and whose type begins with "Workspace" is
// Unavailable, unless it is being initialized or deleted.
const (
	// WorkspaceScheduled is True when cluster and URL are set and right.
	WorkspaceScheduled conditions.Type = "WorkspaceScheduled"

	// WorkspaceMountReady says, for mounted workspaces, whether the mounted thing can be
	// used.
	WorkspaceMountReady conditions.Type = "WorkspaceMountReady"
)

// WorkspaceConditionPrefix begins the condition types that decide whether a workspace
// is available.
const WorkspaceConditionPrefix = "Workspace"

// Reasons of WorkspaceScheduled.
const (
	// ReasonUnschedulable: no shard fits, or the chosen one is gone (Error).
	ReasonUnschedulable = "Unschedulable"

	// ReasonUnknown: the shard's address makes no sense (Error).
	ReasonUnknown = "Unknown"
)

// Reasons of WorkspaceMountReady.
const (
	// ReasonMountObjectNotFound: the mounted object is not there (Error).
	ReasonMountObjectNotFound = "MountObjectNotFound"

	// ReasonMountObjectNotReady: the mounted object is not Ready (Error).
	ReasonMountObjectNotReady = "MountObjectNotReady"
)

// Condition types of workspace types. Ready sums them up.
const (
	// VirtualWorkspaceURLsReady is True when the addresses in the status are complete.
	VirtualWorkspaceURLsReady conditions.Type = "VirtualWorkspaceURLsReady"
)

// ReasonErrorGeneratingURLs is why VirtualWorkspaceURLsReady is False: the shards that
// make up the addresses cannot be read (Error).
const ReasonErrorGeneratingURLs = "ErrorGeneratingURLs"
