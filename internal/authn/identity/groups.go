package identity

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Groups with a meaning of their own. Nobody gets one by impersonation who is not in
// it already, see Privileged.
const (
	// Masters skips authorization.
	Masters = user.SystemPrivilegedGroup
	// Admin is cluster admin in every workspace, by the bootstrap policy.
	Admin = "system:kcp:admin"
	// LogicalClusterAdmin makes logical clusters on behalf of another shard. It
	// needs no access to a workspace.
	LogicalClusterAdmin = "system:kcp:logical-cluster-admin"
	// ExternalLogicalClusterAdmin does the same through the front proxy.
	ExternalLogicalClusterAdmin = "system:kcp:external-logical-cluster-admin"
	// WorkspaceBootstrapper fills root and new workspaces.
	WorkspaceBootstrapper = "system:kcp:tenancy:workspace-bootstrapper"

	// InitializerPrefix and TerminatorPrefix start the groups that mark the requests
	// of a workspace type's initializer or terminator.
	InitializerPrefix = "system:kcp:initializer:"
	TerminatorPrefix  = "system:kcp:terminator:"

	// ClusterPrefix starts the group of all identities from one logical cluster, as
	// the other clusters see them.
	ClusterPrefix = "system:cluster:"

	// BindingPrefix starts users and groups as the policy of an export's provider
	// names them.
	BindingPrefix = "apis.kcp.io:binding:"
)

// User names of the server itself.
const (
	// BootstrapperUser fills workspaces; it is in WorkspaceBootstrapper.
	BootstrapperUser = "system:kcp:bootstrapper"

	// globalServiceAccountPrefix starts the name by which a service account is known
	// outside its logical cluster.
	globalServiceAccountPrefix = "system:kcp:serviceaccount:"
)

// InGroup says whether u is a member of group.
func InGroup(u user.Info, group string) bool {
	return slices.Contains(u.GetGroups(), group)
}

// IsMaster says whether u skips authorization.
func IsMaster(u user.Info) bool { return InGroup(u, Masters) }

// Privileged says whether group gives power that no policy of a workspace may hand
// out: to be had by who is a member already, and never by impersonation.
func Privileged(group string) bool {
	switch group {
	case Masters, Admin, LogicalClusterAdmin, ExternalLogicalClusterAdmin, WorkspaceBootstrapper, user.AllAuthenticated:
		return true
	default:
		return IsLifecycleGroup(group)
	}
}

// IsLifecycleGroup says whether group marks the requests of an initializer or a
// terminator.
func IsLifecycleGroup(group string) bool {
	return strings.HasPrefix(group, InitializerPrefix) || strings.HasPrefix(group, TerminatorPrefix)
}

// IsServiceAccount says whether u is a service account of some logical cluster.
func IsServiceAccount(u user.Info) bool {
	return strings.HasPrefix(u.GetName(), serviceaccount.ServiceAccountUsernamePrefix)
}
