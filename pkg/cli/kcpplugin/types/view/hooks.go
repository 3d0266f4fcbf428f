package view

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

func initializers(set *tenancy.Set) []Hook {
	all := []Hook{}
	for _, id := range set.Initializers() {
		all = append(all, hook(string(id), set,
			func(t tenancy.Type) string { return string(t.Initializer()) },
			func(s *tenancyv1alpha1.WorkspaceTypeSpec) []rbacv1.PolicyRule { return s.InitializerPermissions }))
	}
	return all
}

func terminators(set *tenancy.Set) []Hook {
	all := []Hook{}
	for _, id := range set.Terminators() {
		all = append(all, hook(string(id), set,
			func(t tenancy.Type) string { return string(t.Terminator()) },
			func(s *tenancyv1alpha1.WorkspaceTypeSpec) []rbacv1.PolicyRule { return s.TerminatorPermissions }))
	}
	return all
}

// hook returns the hook with that identifier. That of the server is no type's.
func hook(id string, set *tenancy.Set, idOf func(tenancy.Type) string, rules func(*tenancyv1alpha1.WorkspaceTypeSpec) []rbacv1.PolicyRule) Hook {
	i := slices.IndexFunc(set.Aliases, func(t tenancy.Type) bool { return idOf(t) == id })
	if i < 0 || id == string(corev1alpha1.InitializerAPIBindings) {
		return Hook{ID: id}
	}
	alias := set.Aliases[i]
	return Hook{ID: id, Type: alias.String(), Rules: rules(&alias.Object.Spec)}
}

// bindings returns the exports that workspaces of the type bind, in the order in which
// the types name them, each once. What becomes of them is not known yet.
func bindings(set *tenancy.Set) []Binding {
	all := []Binding{}
	for _, alias := range set.Aliases {
		lifecycle := alias.Object.Spec.DefaultAPIBindingLifecycle
		maintains := lifecycle != nil && *lifecycle == tenancyv1alpha1.APIBindingLifecycleMaintain
		for _, ref := range alias.Object.Spec.DefaultAPIBindings {
			path := ref.Path
			if path == "" {
				path = alias.Path.String()
			}
			i := slices.IndexFunc(all, func(b Binding) bool { return b.Path == path && b.Export == ref.Export })
			if i < 0 {
				all = append(all, Binding{Path: path, Export: ref.Export, From: alias.String()})
				i = len(all) - 1
			}
			// One that looks after it is enough.
			all[i].Maintained = all[i].Maintained || maintains
		}
	}
	return all
}
