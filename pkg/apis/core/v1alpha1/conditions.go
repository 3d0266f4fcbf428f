package v1alpha1

import "github.com/forkless/kcp/pkg/apis/conditions"

// Condition types of logical clusters. Those that begin with "Workspace" are mirrored
// to the Workspace.
const (
	// WorkspaceInitialized is True when no initializer is left.
	WorkspaceInitialized conditions.Type = "WorkspaceInitialized"

	// WorkspaceContentDeleted says, during deletion, what is left in the logical
	// cluster.
	WorkspaceContentDeleted conditions.Type = "WorkspaceContentDeleted"

	// WorkspaceTerminated says, during deletion, which terminators are waited for. It is
	// absent where there never were any.
	WorkspaceTerminated conditions.Type = "WorkspaceTerminated"

	// WorkspaceReleased says, during deletion, which finalizers that are not the server's
	// keep the LogicalCluster or the Workspace. It is absent where there never were any.
	WorkspaceReleased conditions.Type = "WorkspaceReleased"

	// APIBindingsInitialized says what the default API bindings wait for. It never
	// becomes True.
	APIBindingsInitialized conditions.Type = "APIBindingsInitialized"

	// APIBindingsReconciled says whether the default API bindings are as the workspace
	// type wants them.
	APIBindingsReconciled conditions.Type = "APIBindingsReconciled"
)

// Reasons of WorkspaceInitialized.
const (
	// ReasonInitializerExists: initializers are left (Info).
	ReasonInitializerExists = "InitializerExists"

	// ReasonWorkspaceDisappeared: the logical cluster of a Workspace that is being
	// initialized is not there (Error).
	ReasonWorkspaceDisappeared = "WorkspaceDisappeared"
)

// Reasons of WorkspaceTerminated.
const (
	// ReasonTerminatorExists: terminators are left (Info).
	ReasonTerminatorExists = "TerminatorExists"
)

// Reasons of WorkspaceReleased.
const (
	// ReasonFinalizersRemain: finalizers of others are left (Info).
	ReasonFinalizersRemain = "FinalizersRemain"
)

// Reasons of WorkspaceContentDeleted.
const (
	// ReasonSomeResourcesRemain: objects or finalizers are left (Info).
	ReasonSomeResourcesRemain = "SomeResourcesRemain"

	// ReasonDiscoveryFailed: what there is to delete cannot be found out (Error).
	ReasonDiscoveryFailed = "DiscoveryFailed"

	// ReasonGroupVersionParsingFailed: discovery names a version that is none (Error).
	ReasonGroupVersionParsingFailed = "GroupVersionParsingFailed"

	// ReasonContentDeletionFailed: objects could not be deleted (Error).
	ReasonContentDeletionFailed = "ContentDeletionFailed"
)

// Reasons of APIBindingsInitialized and APIBindingsReconciled.
const (
	// ReasonWaitingOnAPIBindings: bindings are there but not bound yet (Info).
	ReasonWaitingOnAPIBindings = "WaitingOnAPIBindings"

	// ReasonAPIBindingErrors: bindings cannot be made (Error).
	ReasonAPIBindingErrors = "APIBindingErrors"

	// ReasonWorkspaceTypesInvalid: the workspace types that say what to bind cannot be
	// resolved (Error).
	ReasonWorkspaceTypesInvalid = "WorkspaceTypesInvalid"
)
