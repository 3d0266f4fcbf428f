package rbac

// Names of roles that other parts bind or ask for.
const (
	// ClusterAdmin is Kubernetes' role that may do everything.
	ClusterAdmin = "cluster-admin"
	// WorkspaceAccess is the role that lets its holders into a workspace. It gives
	// nothing inside, except what the bootstrap policy gives to everybody.
	WorkspaceAccess = "system:kcp:workspace:access"
	// TenancyReader lets its holders see workspaces, types and logical clusters.
	TenancyReader = "system:kcp:tenancy:reader"
	// MetricsReader, bound in root, lets its holders read /metrics.
	MetricsReader = "system:kcp:metrics-reader"

	// WorkspaceAdminBinding is the binding that makes the creator of a workspace its
	// admin.
	WorkspaceAdminBinding = "workspace-admin"
)

// API groups of the rules.
const (
	apisGroup       = "apis.kcp.io"
	cacheGroup      = "cache.kcp.io"
	coreGroup       = "core.kcp.io"
	migrationGroup  = "migration.kcp.io"
	tenancyGroup    = "tenancy.kcp.io"
	topologyGroup   = "topology.kcp.io"
	extensionsGroup = "apiextensions.k8s.io"
	reviewsGroup    = "authorization.k8s.io"
	legacyGroup     = ""
)

// accessVerb on the path "/" is what lets somebody into a workspace.
const accessVerb = "access"
