package rbac

import (
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/forkless/kcp/internal/authn/identity"
)

// SystemAdmin returns the policy of the cluster system:admin. It is in force in every
// workspace. Aggregated roles come with the rules they gather.
func SystemAdmin() []Object {
	clusterRoles := append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...)
	clusterBindings := append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...)
	for _, role := range ownClusterRoles() {
		markBootstrapped(role)
		clusterRoles = append(clusterRoles, *role)
	}
	for _, binding := range ownClusterBindings() {
		markBootstrapped(binding)
		clusterBindings = append(clusterBindings, *binding)
	}
	aggregate(clusterRoles)

	var objects []Object
	for i := range clusterRoles {
		objects = append(objects, &clusterRoles[i])
	}
	for i := range clusterBindings {
		objects = append(objects, &clusterBindings[i])
	}
	return append(objects, namespacedStock()...)
}

// namespacedStock returns Kubernetes' own Roles and RoleBindings, which are a handful
// in kube-system and kube-public.
func namespacedStock() []Object {
	var objects []Object
	roles := bootstrappolicy.NamespaceRoles()
	for _, namespace := range slices.Sorted(maps.Keys(roles)) {
		for _, role := range roles[namespace] {
			objects = append(objects, role.DeepCopy())
		}
	}
	bindings := bootstrappolicy.NamespaceRoleBindings()
	for _, namespace := range slices.Sorted(maps.Keys(bindings)) {
		for _, binding := range bindings[namespace] {
			objects = append(objects, binding.DeepCopy())
		}
	}
	return objects
}

func ownClusterRoles() []*rbacv1.ClusterRole {
	return []*rbacv1.ClusterRole{
		clusterRole(TenancyReader,
			on(tenancyGroup, []string{"workspaces"}, "get", "list", "watch"),
			on(tenancyGroup, []string{"workspacetypes"}, "get", "list", "watch"),
			on(coreGroup, []string{"logicalclusters"}, "get", "list", "watch"),
		),
		clusterRole(WorkspaceAccess, at("/", accessVerb)),
		clusterRole(MetricsReader, at("/metrics", "get")),
		clusterRole(identity.WorkspaceBootstrapper,
			on(all, []string{all}, all),
			at(all, all),
		),
		clusterRole(identity.LogicalClusterAdmin,
			on(coreGroup, []string{"logicalclusters", "logicalclusters/status"}, all),
			on(tenancyGroup, []string{"workspaces"}, "delete", "update", "get"),
		),
		clusterRole(identity.ExternalLogicalClusterAdmin, externalLogicalClusterAdminRules()...),
	}
}

// externalLogicalClusterAdminRules are what a shard does on another one through the
// front proxy: scheduling, deletion, authentication, endpoints and migration.
func externalLogicalClusterAdminRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		on(coreGroup, []string{"logicalclusters", "logicalclusters/status"}, "delete", "update", "get"),
		on(tenancyGroup, []string{"workspaces"}, "delete", "update", "patch", "get"),
		on(legacyGroup, []string{"serviceaccounts", "secrets"}, "get"),
		at("/", accessVerb),
		on(reviewsGroup, []string{"subjectaccessreviews"}, "create"),
		on(apisGroup, []string{"apiexportendpointslices/status"}, "update", "patch", "get"),
		on(apisGroup, []string{"apiexportendpointslices"}, "get", "list", "watch"),
		on(cacheGroup, []string{"clustercachedresourceendpointslices/status"}, "update", "patch", "get"),
		on(cacheGroup, []string{"clustercachedresourceendpointslices"}, "get", "list", "watch"),
		on(tenancyGroup, []string{"workspaceauthenticationconfigurations"}, "get"),
		on(migrationGroup, []string{"logicalclusterdumps"}, "create"),
		on(migrationGroup, []string{"logicalclustermigrations", "logicalclustermigrations/status"}, "get", "update", "patch"),
		on(apisGroup, []string{"apibindings"}, "list"),
		on(apisGroup, []string{"apiexports", "apiresourceschemas"}, "get"),
		on(extensionsGroup, []string{"customresourcedefinitions"}, "get", "create"),
	}
}

func ownClusterBindings() []*rbacv1.ClusterRoleBinding {
	return []*rbacv1.ClusterRoleBinding{
		clusterBinding("system:kcp:admin:cluster-admin", ClusterAdmin, groups(identity.Admin)...),
		clusterBinding(identity.WorkspaceBootstrapper, identity.WorkspaceBootstrapper,
			groups(identity.WorkspaceBootstrapper, identity.BindingPrefix+identity.WorkspaceBootstrapper)...),
		clusterBinding(identity.LogicalClusterAdmin, identity.LogicalClusterAdmin,
			groups(identity.LogicalClusterAdmin)...),
		clusterBinding(identity.ExternalLogicalClusterAdmin, identity.ExternalLogicalClusterAdmin,
			groups(identity.ExternalLogicalClusterAdmin)...),
	}
}

// markBootstrapped gives object the label and annotation that Kubernetes' own roles
// have.
func markBootstrapped(object metav1.Object) {
	object.SetLabels(map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"})
	object.SetAnnotations(map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"})
}
