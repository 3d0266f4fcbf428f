package view

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

const (
	useVerb  = "use"
	resource = "workspacetypes"
)

// Users returns those whom roles and bindings of the workspace of a type let use it.
func Users(name string, roles []rbacv1.ClusterRole, bindings []rbacv1.ClusterRoleBinding) []Subject {
	var all []Subject
	for i := range bindings {
		if !slices.ContainsFunc(roles, func(r rbacv1.ClusterRole) bool { return r.Name == bindings[i].RoleRef.Name && lets(r.Rules, name) }) {
			continue
		}
		for _, s := range bindings[i].Subjects {
			if strings.HasPrefix(s.Name, diagnosis.ConsumerPrefix) {
				// That is how maximal permission policies name people, and nobody's name.
				continue
			}
			subject := Subject{Kind: s.Kind, Name: s.Name, Binding: bindings[i].Name}
			if s.Namespace != "" {
				subject.Name = s.Namespace + "/" + s.Name
			}
			all = append(all, subject)
		}
	}
	return all
}

// lets says whether rules have the verb "use" on the type called name.
func lets(rules []rbacv1.PolicyRule, name string) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return has(r.Verbs, useVerb, rbacv1.VerbAll) &&
			has(r.APIGroups, tenancyv1alpha1.GroupName, rbacv1.APIGroupAll) &&
			has(r.Resources, resource, rbacv1.ResourceAll) &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
	})
}

func has(words []string, word, all string) bool {
	return slices.Contains(words, word) || slices.Contains(words, all)
}
