package v1alpha1

// PhaseLabelKey is the label of a Workspace or LogicalCluster that repeats its phase,
// so that selectors can pick it. It follows the status with a delay.
const PhaseLabelKey = "tenancy.kcp.io/phase"

// Annotations.
const (
	// OwnerAnnotationKey holds, as compact JSON of an authentication/v1 UserInfo, the
	// user who created a Workspace or LogicalCluster. Once that is ready, only the
	// username is left in it.
	OwnerAnnotationKey = "experimental.tenancy.kcp.io/owner"

	// TypeAnnotationKey is the type of the workspace a LogicalCluster belongs to, as
	// "<path>:<name>".
	TypeAnnotationKey = "internal.tenancy.kcp.io/type"

	// ClusterAnnotationKey is the logical cluster that scheduling chose for a Workspace,
	// before spec.cluster says so.
	ClusterAnnotationKey = "internal.tenancy.kcp.io/cluster"

	// ShardHashAnnotationKey is a hash of the shard's name on a Workspace. It is
	// superseded by core.kcp.io/shard and written for older clients.
	ShardHashAnnotationKey = "internal.tenancy.kcp.io/shard"

	// HooksAnnotationKey remembers, on a LogicalCluster, when somebody last wrote to it
	// as one of the initializers or terminators that are waited for, and who it was:
	// JSON of {"<i or t>:<identifier>":{"by":"<user>","at":"<time>"}}.
	HooksAnnotationKey = "internal.tenancy.kcp.io/hooks"

	// RequiredGroupsAnnotationKey restricts a workspace to members of groups: ";"
	// separates alternatives, "," groups that are needed together.
	RequiredGroupsAnnotationKey = "authorization.kcp.io/required-groups"

	// DefaultAPIBindingLifecycleAnnotationKey is reserved; it has no effect.
	DefaultAPIBindingLifecycleAnnotationKey = "experimental.tenancy.kcp.io/default-api-binding-lifecycle"

	// IsMountAnnotationKey marks objects that a Workspace may mount.
	IsMountAnnotationKey = "experimental.tenancy.kcp.io/is-mount"

	// MountAnnotationKey is reserved; it has no effect.
	MountAnnotationKey = "experimental.tenancy.kcp.io/mount"
)

// Names of workspace types that mean something to the server.
const (
	// WorkspaceTypeReservedAny cannot be the name of a type.
	WorkspaceTypeReservedAny = "any"
	// WorkspaceTypeReservedSystem cannot be the name of a type.
	WorkspaceTypeReservedSystem = "system"
)
