package create

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// any stands for all verbs, resources or groups.
const anything = "*"

var (
	verbPattern     = regexp.MustCompile(`^([a-z]+|\*)$`)
	resourcePattern = regexp.MustCompile(`^(\*|[a-z][-a-z0-9]*)(\.[-a-z0-9.]+)?(/[a-z]+)?$`)
)

// parseRules reads 'VERBS RESOURCES[.GROUP]' with commas between the words:
// "get,list configmaps,secrets", "* widgets.acme.io". A resource "*" without a group is
// everything there is.
func parseRules(args []string) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	for _, arg := range args {
		parsed, err := parseRule(arg)
		if err != nil {
			return nil, err
		}
		rules = append(rules, parsed...)
	}
	return rules, nil
}

// parseRule returns a rule for each group that arg names.
func parseRule(arg string) ([]rbacv1.PolicyRule, error) {
	words := strings.Fields(arg)
	if len(words) != 2 {
		return nil, fmt.Errorf(`%q is no rule: it has to look like "get,list configmaps" or "* widgets.acme.io"`, arg)
	}
	verbs := split(words[0])
	for _, verb := range verbs {
		if !verbPattern.MatchString(verb) {
			return nil, fmt.Errorf("the rule %q: %q is no verb", arg, verb)
		}
	}
	var rules []rbacv1.PolicyRule
	for _, word := range split(words[1]) {
		if !resourcePattern.MatchString(word) {
			return nil, fmt.Errorf("the rule %q: %q is no resource, which has to look like secrets, widgets.acme.io or widgets.acme.io/status", arg, word)
		}
		resource, group := groupOf(word)
		i := slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == group })
		if i < 0 {
			rules = append(rules, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{group}})
			i = len(rules) - 1
		}
		rules[i].Resources = append(rules[i].Resources, resource)
	}
	return rules, nil
}

// groupOf takes RESOURCE[.GROUP][/SUBRESOURCE] apart.
func groupOf(word string) (resource, group string) {
	word, subresource, hasSubresource := strings.Cut(word, "/")
	resource, group, hasGroup := strings.Cut(word, ".")
	switch {
	case resource == anything && !hasGroup:
		group = anything
	case group == "core":
		group = ""
	}
	if hasSubresource {
		resource += "/" + subresource
	}
	return resource, group
}

// split returns the words between commas, each once.
func split(s string) []string {
	var words []string
	for _, word := range strings.Split(s, ",") {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
