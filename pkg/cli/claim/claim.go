// Package claim is how people write permission claims and how they are shown to them:
//
//	resource[.group][:identity][=verb+verb...]
//
// The core group is left out, or written as "core". It is about text and comparison
// only; what a claim is worth is the server's business.
package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// coreGroup is how the group is called that has no name, where one has to be written.
const coreGroup = "core"

// anyVerb stands for all verbs.
const anyVerb = "*"

// What the server accepts, so that a slip of the pen is found before anything is sent.
var (
	resourcePattern = regexp.MustCompile(`^[a-z][-a-z0-9]*[a-z0-9]$`)
	groupPattern    = regexp.MustCompile(`^(|[a-z0-9]([-a-z0-9]*[a-z0-9](\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?)$`)
	verbPattern     = regexp.MustCompile(`^([a-z]+|\*)$`)
)

// Parse reads a claim. Its verbs are empty if none are named.
func Parse(s string) (apisv1alpha2.PermissionClaim, error) {
	var c apisv1alpha2.PermissionClaim
	name, verbs, hasVerbs := strings.Cut(s, "=")
	name, c.IdentityHash, _ = strings.Cut(name, ":")
	c.Resource, c.Group, _ = strings.Cut(name, ".")
	if c.Group == coreGroup {
		c.Group = ""
	}
	if !resourcePattern.MatchString(c.Resource) || !groupPattern.MatchString(c.Group) {
		return apisv1alpha2.PermissionClaim{}, fmt.Errorf("%q is no claim: it has to look like secrets, widgets.example.dev or secrets=get+list", s)
	}
	if !hasVerbs {
		return c, nil
	}
	var err error
	c.Verbs, err = ParseVerbs(verbs)
	return c, err
}

// ParseVerbs reads verbs with "+" or commas between them.
func ParseVerbs(s string) ([]string, error) {
	verbs := strings.FieldsFunc(s, func(r rune) bool { return r == '+' || r == ',' })
	for _, verb := range verbs {
		if !verbPattern.MatchString(verb) {
			return nil, fmt.Errorf("%q is no verb", verb)
		}
	}
	if len(verbs) == 0 {
		return nil, fmt.Errorf("verbs have to be named, such as get+list or *")
	}
	if slices.Contains(verbs, anyVerb) {
		return AnyVerb(), nil
	}
	return compact(verbs), nil
}

// compact removes what is there twice and keeps the order.
func compact(verbs []string) []string {
	var kept []string
	for _, verb := range verbs {
		if !slices.Contains(kept, verb) {
			kept = append(kept, verb)
		}
	}
	return kept
}

// AnyVerb returns the verbs of a claim on everything.
func AnyVerb() []string { return []string{anyVerb} }

// Resource returns what c is about as resource[.group].
func Resource(c apisv1alpha2.PermissionClaim) string {
	if c.Group == "" {
		return c.Resource
	}
	return c.Resource + "." + c.Group
}

// Format returns c as resource[.group][:identity].
func Format(c apisv1alpha2.PermissionClaim) string {
	if c.IdentityHash == "" {
		return Resource(c)
	}
	return Resource(c) + ":" + c.IdentityHash
}

// SameObjects says whether a and b are about the same objects.
func SameObjects(a, b apisv1alpha2.PermissionClaim) bool {
	return a.GroupResource == b.GroupResource && a.IdentityHash == b.IdentityHash
}

// SameVerbs says whether a and b allow the same, in whatever order they say so.
func SameVerbs(a, b []string) bool {
	return slices.Equal(sorted(a), sorted(b))
}

// Warning returns a sentence for somebody who accepts verbs of what is asked for and gets
// nothing for it; otherwise it is empty. Granted are the verbs that both name, and "*" is
// one like the others.
func Warning(asked apisv1alpha2.PermissionClaim, accepted []string) string {
	if slices.ContainsFunc(accepted, func(verb string) bool { return slices.Contains(asked.Verbs, verb) }) {
		return ""
	}
	return fmt.Sprintf("accepting %s for %s gives no access, because the export asks for %s: only verbs that both name are granted",
		Format(asked), FormatVerbs(accepted), FormatVerbs(asked.Verbs))
}

// FormatVerbs returns verbs with commas between them.
func FormatVerbs(verbs []string) string { return strings.Join(verbs, ",") }

func sorted(verbs []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(verbs)))
}

// Open returns the claims of the binding's export that the binding does not answer.
func Open(binding *apisv1alpha2.APIBinding) []apisv1alpha2.PermissionClaim {
	var open []apisv1alpha2.PermissionClaim
	for _, c := range binding.Status.ExportPermissionClaims {
		answered := slices.ContainsFunc(binding.Spec.PermissionClaims, func(answer apisv1alpha2.AcceptablePermissionClaim) bool {
			return SameObjects(answer.PermissionClaim, c) && answer.State != ""
		})
		if !answered {
			open = append(open, c)
		}
	}
	return open
}
