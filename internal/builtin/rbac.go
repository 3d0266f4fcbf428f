package builtin

import (
	clusterrolechecked "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/policybased"
	clusterrole "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/storage"
	clusterrolebindingchecked "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/policybased"
	clusterrolebinding "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/storage"
	rolechecked "k8s.io/kubernetes/pkg/registry/rbac/role/policybased"
	role "k8s.io/kubernetes/pkg/registry/rbac/role/storage"
	rolebindingchecked "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/policybased"
	rolebinding "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/storage"
)

// rbac wraps each registry in upstream's escalation check, which reads the rules
// somebody has from the configuration and not, as upstream does, from the registries:
// rules may also come from outside the cluster of the request.
func rbac(config *Config, _ *shared) (storages, error) {
	roles, err := role.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	bindings, err := rolebinding.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	clusterRoles, err := clusterrole.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	clusterBindings, err := clusterrolebinding.NewREST(config.RESTOptions)
	if err != nil {
		return nil, err
	}
	shareTables(roles.Store, bindings.Store, clusterRoles.Store, clusterBindings.Store)

	return storages{
		"roles":               rolechecked.NewStorage(roles, config.Authorizer, config.RoleRules),
		"rolebindings":        rolebindingchecked.NewStorage(bindings, config.Authorizer, config.RoleRules),
		"clusterroles":        clusterrolechecked.NewStorage(clusterRoles, config.Authorizer, config.RoleRules),
		"clusterrolebindings": clusterrolebindingchecked.NewStorage(clusterBindings, config.Authorizer, config.RoleRules),
	}, nil
}
