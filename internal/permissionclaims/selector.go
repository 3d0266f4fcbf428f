package permissionclaims

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Selector returns what selector selects by. One that says nothing selects nothing:
// admission refuses it, and what was not said gives no access.
func Selector(selector apisv1alpha2.PermissionClaimSelector) (labels.Selector, error) {
	switch {
	case selector.MatchAll:
		return labels.Everything(), nil
	case len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0:
		return labels.Nothing(), nil
	default:
		return metav1.LabelSelectorAsSelector(&selector.LabelSelector)
	}
}

// Wildcard stands for all verbs.
const wildcard = "*"

// Allows says whether a verb is allowed by a claim and its answer.
func Allows(exported, accepted []string, verb string) bool {
	return names(exported, accepted, verb) || names(exported, accepted, wildcard)
}

// names says whether both lists have verb in them.
func names(exported, accepted []string, verb string) bool {
	return slices.Contains(exported, verb) && slices.Contains(accepted, verb)
}

// Lists says whether objects of an accepted claim are to be found by lists and watches of
// the provider, and so have its label. They are if he does not ask for lists at all, but
// not if that is what he was not given: lists over all workspaces know no other bound.
func Lists(exported, accepted []string) bool {
	isList := func(verb string) bool { return verb == "list" || verb == "watch" || verb == wildcard }
	if !slices.ContainsFunc(exported, isList) {
		return true
	}
	return slices.ContainsFunc(exported, func(verb string) bool { return isList(verb) && slices.Contains(accepted, verb) })
}
