package v1alpha1

import "github.com/forkless/kcp/pkg/apis/conditions"

// Condition types of APIExports.
const (
	// APIExportIdentityValid is True when the secret fits the identity in the status.
	APIExportIdentityValid conditions.Type = "IdentityValid"
	// APIExportVirtualWorkspaceURLsReady belongs to the deprecated addresses in the status.
	APIExportVirtualWorkspaceURLsReady conditions.Type = "VirtualWorkspaceURLsReady"
)

// Reasons of APIExportIdentityValid.
const (
	// ReasonIdentityGenerationFailed: the secret could not be made (Error).
	ReasonIdentityGenerationFailed = "IdentityGenerationFailed"
	// ReasonIdentityVerificationFailed: the secret is missing or another one (Error).
	ReasonIdentityVerificationFailed = "IdentityVerificationFailed"
)

// Condition types of APIBindings. Ready repeats InitialBindingCompleted.
const (
	// InitialBindingCompleted is True once everything has been bound, for good.
	InitialBindingCompleted conditions.Type = "InitialBindingCompleted"
	// BindingUpToDate is True while what is bound is what the export offers.
	BindingUpToDate conditions.Type = "BindingUpToDate"
	// APIExportValid is True while there is an export that can be bound.
	APIExportValid conditions.Type = "APIExportValid"
	// BindingResourceDeleteSuccess says, during deletion, what is left.
	BindingResourceDeleteSuccess conditions.Type = "BindingResourceDeleteSuccess"
	// PermissionClaimsValid is True if all accepted claims are ones of the export.
	PermissionClaimsValid conditions.Type = "PermissionClaimsValid"
	// PermissionClaimsApplied is True when accepted claims are in force.
	PermissionClaimsApplied conditions.Type = "PermissionClaimsApplied"
)

// Reasons of InitialBindingCompleted and BindingUpToDate.
const (
	// ReasonWaitingForEstablished: the first look has been taken (Info).
	ReasonWaitingForEstablished = "WaitingForEstablished"
	// ReasonNamingConflicts: something else has the resource or its names (Error).
	ReasonNamingConflicts = "NamingConflicts"
	// ReasonLogicalClusterNotFound: the workspace is gone (Error).
	ReasonLogicalClusterNotFound = "LogicalClusterNotFound"
	// ReasonAPIResourceSchemaInvalid: the schema cannot be served (Error).
	ReasonAPIResourceSchemaInvalid = "APIResourceSchemaInvalid"
)

// Reasons of APIExportValid.
const (
	// ReasonAPIExportInvalidReference: the reference makes no sense (Error).
	ReasonAPIExportInvalidReference = "APIExportInvalidReference"
	// ReasonAPIExportNotFound: there is no such export (Error).
	ReasonAPIExportNotFound = "APIExportNotFound"
	// ReasonMissingIdentityHash: the export has no identity yet (Warning).
	ReasonMissingIdentityHash = "MissingIdentityHash"
	// ReasonInternalError: something of the export is missing or broken (Error).
	ReasonInternalError = "InternalError"
)

// Reasons of BindingResourceDeleteSuccess.
const (
	// ReasonResourceDeletionFailed: deleting failed (Error).
	ReasonResourceDeletionFailed = "ResourceDeletionFailed"
	// ReasonSomeFinalizersRemain: instances wait for finalizers (Error).
	ReasonSomeFinalizersRemain = "SomeFinalizersRemain"
	// ReasonSomeResourcesRemain: instances are left (Error).
	ReasonSomeResourcesRemain = "SomeResourcesRemain"
)

// Reasons of PermissionClaimsValid.
const (
	// ReasonInvalidPermissionClaims: accepted claims that the export does not make (Error).
	ReasonInvalidPermissionClaims = "InvalidPermissionClaims"
	// ReasonPermissionClaimsMismatch: accepted with other verbs or selectors (Warning).
	ReasonPermissionClaimsMismatch = "PermissionClaimsMismatch"
)

// Condition types of APIExportEndpointSlices, beside APIExportValid.
const (
	// PartitionValid is True if the partition exists, or none is named.
	PartitionValid conditions.Type = "PartitionValid"
)

// ReasonPartitionInvalidReference is why PartitionValid is False: there is no such
// partition (Error).
const ReasonPartitionInvalidReference = "PartitionInvalidReference"
