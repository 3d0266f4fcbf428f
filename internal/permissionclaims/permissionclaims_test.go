package permissionclaims_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

func TestLabelValue(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, group, resource, identity, want string
	}{
		"BuiltIn":    {"what has no group and no identity says neither", "", "configmaps", "", "3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe"},
		"Identified": {"the identity is part of it", "apps", "deployments", "deadbeef", "4CpOMiJ5JL9ZC4cG8ne7nGNQbSOEUiwZ89KHal"},
	} {
		t.Run(name, func(t *testing.T) {
			got := permissionclaims.LabelValue(permissionclaims.Name{
				GroupResource: schema.GroupResource{Group: tc.group, Resource: tc.resource}, IdentityHash: tc.identity,
			})
			if got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	events := permissionclaims.Name{GroupResource: schema.GroupResource{Resource: "events"}}
	newer := permissionclaims.Name{GroupResource: schema.GroupResource{Group: "events.k8s.io", Resource: "events"}}
	if permissionclaims.LabelValue(events) != permissionclaims.LabelValue(newer) {
		t.Error("events are the same objects in both groups and have one value")
	}
}

func TestClaimable(t *testing.T) {
	for name, tc := range map[string]struct {
		resource                         schema.GroupResource
		claimable, needsIdentity, review bool
	}{
		"ConfigMaps":      {schema.GroupResource{Resource: "configmaps"}, true, false, false},
		"Roles":           {schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}, true, false, false},
		"LogicalClusters": {schema.GroupResource{Group: "core.kcp.io", Resource: "logicalclusters"}, true, false, false},
		"Reviews":         {schema.GroupResource{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}, true, false, true},
		"OwnReviews":      {schema.GroupResource{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}, false, true, false},
		"Bindings":        {schema.GroupResource{Group: "apis.kcp.io", Resource: "apibindings"}, true, false, false},
		"Conversions":     {schema.GroupResource{Group: "apis.kcp.io", Resource: "apiconversions"}, false, false, false},
		"Workspaces":      {schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}, false, true, false},
		"Elsewhere":       {schema.GroupResource{Group: "example.com", Resource: "configmaps"}, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := permissionclaims.IsClaimable(tc.resource); got != tc.claimable {
				t.Errorf("claimable: %t", got)
			}
			if got := permissionclaims.NeedsIdentity(tc.resource); got != tc.needsIdentity {
				t.Errorf("needs an identity: %t", got)
			}
			if got := permissionclaims.IsReview(tc.resource); got != tc.review {
				t.Errorf("is a review: %t", got)
			}
		})
	}
}

func TestSelector(t *testing.T) {
	red := map[string]string{"color": "red"}
	exists := []metav1.LabelSelectorRequirement{{Key: "size", Operator: metav1.LabelSelectorOpExists}}
	for name, tc := range map[string]struct {
		reason   string
		selector apisv1alpha2.PermissionClaimSelector
		object   labels.Set
		want     bool
	}{
		"All":         {"all is all", apisv1alpha2.PermissionClaimSelector{MatchAll: true}, nil, true},
		"Nothing":     {"what was not said gives no access", apisv1alpha2.PermissionClaimSelector{}, labels.Set{"a": "b"}, false},
		"Labels":      {"labels are enough", apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: red}}, labels.Set(red), true},
		"OtherLabels": {"the value counts", apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: red}}, labels.Set{"color": "blue"}, false},
		"Both": {
			"labels and expressions both have to fit",
			apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: red, MatchExpressions: exists}}, labels.Set(red), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			selector, err := permissionclaims.Selector(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := selector.Matches(tc.object); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
	if _, err := permissionclaims.Selector(apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}},
	}}); err == nil {
		t.Error("an operator that there is not is no error")
	}
}

func TestVerbs(t *testing.T) {
	type verbs = []string
	for name, tc := range map[string]struct {
		exported, accepted verbs
		allowed, not       verbs
		lists              bool
	}{
		"All":       {verbs{"*"}, verbs{"*"}, verbs{"get", "delete", "deletecollection"}, nil, true},
		"Some":      {verbs{"get", "list"}, verbs{"get", "create"}, verbs{"get"}, verbs{"list", "create", "update"}, false},
		"NotOfAll":  {verbs{"*"}, verbs{"get"}, nil, verbs{"get", "*"}, false},
		"Same":      {verbs{"get", "watch"}, verbs{"get", "watch"}, verbs{"watch"}, verbs{"list"}, true},
		"NotAsked":  {verbs{"create"}, verbs{"create"}, verbs{"create"}, verbs{"list"}, true},
		"Withheld":  {verbs{"create", "list"}, verbs{"create"}, verbs{"create"}, verbs{"list"}, false},
		"NoAnswer":  {verbs{"*"}, nil, nil, verbs{"get"}, false},
		"Questions": {nil, verbs{"*"}, nil, verbs{"get"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verb := range tc.allowed {
				if !permissionclaims.Allows(tc.exported, tc.accepted, verb) {
					t.Errorf("%s is not allowed", verb)
				}
			}
			for _, verb := range tc.not {
				if permissionclaims.Allows(tc.exported, tc.accepted, verb) {
					t.Errorf("%s is allowed", verb)
				}
			}
			if got := permissionclaims.Lists(tc.exported, tc.accepted); got != tc.lists {
				t.Errorf("found by lists: %t", got)
			}
		})
	}
}
