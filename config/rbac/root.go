package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/authn/identity"
)

// RootOptions is what of the root workspace's policy depends on flags.
type RootOptions struct {
	// HomeCreatorGroups may have a home workspace made by asking for it. None makes
	// the binding one of nobody.
	HomeCreatorGroups []string
}

// Names of the roles of the root workspace.
const (
	universalUse           = "system:kcp:universal-workspacetype-use"
	homeCreate             = "system:kcp:home-clusterworkspace-create"
	tenancyBind            = "system:kcp:apiexport:tenancy:bind"
	topologyBind           = "system:kcp:apiexport:topology:bind"
	tenancyMaximalPolicy   = "system:kcp:apiexport:tenancy:maximal-permission-policy"
	topologyMaximalPolicy  = "system:kcp:apiexport:topology:maximal-permission-policy"
	kcpAdminMaximalPolicy  = "system:kcp:apiexport:kcp-admin:maximal-permission-policy"
	homeCreateBinding      = "system:kcp:configured-group:home-clusterworkspace-create"
	authenticatedPrefix    = "system:kcp:authenticated:"
	everybodyBehindBinding = identity.BindingPrefix + user.AllAuthenticated
)

// Root returns what the root workspace has beyond the policy of system:admin:
// everybody who is authenticated may enter it, look around, use the workspace types
// for everybody and bind the exports for everybody. Nobody but admins creates
// workspaces in it.
func Root(options RootOptions) []Object {
	var objects []Object
	for _, role := range rootClusterRoles() {
		objects = append(objects, role)
	}
	for _, binding := range rootClusterBindings(options) {
		objects = append(objects, binding)
	}
	return objects
}

func rootClusterRoles() []*rbacv1.ClusterRole {
	exports := []string{"apiexports"}
	return []*rbacv1.ClusterRole{
		clusterRole(tenancyBind, named(apisGroup, exports, []string{tenancyGroup}, "bind")),
		clusterRole(topologyBind, named(apisGroup, exports, []string{topologyGroup}, "bind")),
		clusterRole(tenancyMaximalPolicy,
			on(tenancyGroup, []string{"workspaces", "workspaceauthenticationconfigurations", "workspacetypes"}, all),
			on(tenancyGroup, []string{"workspaces/status", "workspacetypes/status"}, "list", "watch", "get"),
		),
		clusterRole(topologyMaximalPolicy, on(topologyGroup, []string{"partitions", "partitionsets"}, all)),
		clusterRole(kcpAdminMaximalPolicy, on(tenancyGroup, []string{all}, all)),
		clusterRole(homeCreate, named(tenancyGroup, []string{"workspaces"}, []string{"~"}, "get", "create")),
		clusterRole(universalUse, named(tenancyGroup, []string{"workspacetypes"},
			[]string{"universal", "organization", "team"}, "use")),
	}
}

func rootClusterBindings(options RootOptions) []*rbacv1.ClusterRoleBinding {
	everybody := groups(user.AllAuthenticated)
	behindBinding := groups(everybodyBehindBinding)
	return []*rbacv1.ClusterRoleBinding{
		clusterBinding("system:kcp:tenancy:authenticated:access", WorkspaceAccess, everybody...),
		clusterBinding(authenticatedPrefix+"tenancy:reader", TenancyReader, everybody...),
		clusterBinding(authenticatedPrefix+"universal-workspacetype-use", universalUse, everybody...),
		clusterBinding(authenticatedPrefix+"apiexport:tenancy:bind", tenancyBind, everybody...),
		clusterBinding(authenticatedPrefix+"apiexport:topology:bind", topologyBind, everybody...),
		clusterBinding(authenticatedPrefix+"apiexport:tenancy:maximal-permission-policy", tenancyMaximalPolicy, behindBinding...),
		clusterBinding(authenticatedPrefix+"apiexport:topology:maximal-permission-policy", topologyMaximalPolicy, behindBinding...),
		clusterBinding(authenticatedPrefix+"apiexport:kcp-admin:maximal-permission-policy", kcpAdminMaximalPolicy,
			groups(identity.BindingPrefix+identity.Admin)...),
		clusterBinding(homeCreateBinding, homeCreate, groups(options.HomeCreatorGroups...)...),
	}
}
