package cached

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

func TestEqualPartsOfBindingsAreShared(t *testing.T) {
	binding := func(change func(*apisv1alpha2.APIBinding)) *apisv1alpha2.APIBinding {
		b := &apisv1alpha2.APIBinding{Status: apisv1alpha2.APIBindingStatus{
			BoundResources: []apisv1alpha2.BoundAPIResource{{
				Group: "wildwest.dev", Resource: "cowboys", StorageVersions: []string{"v1alpha1"},
				Schema: apisv1alpha2.BoundAPIResourceSchema{Name: "today.cowboys.wildwest.dev", UID: "1", IdentityHash: "ab"},
			}},
			Conditions: conditions.Conditions{{
				Type: "Ready", Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Unix(1, 0)),
			}},
		}}
		change(b)
		return b
	}
	same := func(*apisv1alpha2.APIBinding) {}
	for name, test := range map[string]struct {
		reason            string
		change            func(*apisv1alpha2.APIBinding)
		bound, conditions bool
	}{
		"Equal": {"what is equal is there once", same, true, true},
		"UID":   {"another schema is another one", func(b *apisv1alpha2.APIBinding) { b.Status.BoundResources[0].Schema.UID = "2" }, false, true},
		"Version": {"one more version too", func(b *apisv1alpha2.APIBinding) {
			b.Status.BoundResources[0].StorageVersions = []string{"v1", "v1alpha1"}
		}, false, true},
		"Time": {"and another time", func(b *apisv1alpha2.APIBinding) {
			b.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(2, 0))
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var c common
			first, second := binding(same), binding(test.change)
			want := second.DeepCopy()
			c.shareBinding(first, strings.Clone)
			c.shareBinding(second, strings.Clone)
			if got := &first.Status.BoundResources[0] == &second.Status.BoundResources[0]; got != test.bound {
				t.Errorf("%s: bound resources shared: %t", test.reason, got)
			}
			if got := &first.Status.Conditions[0] == &second.Status.Conditions[0]; got != test.conditions {
				t.Errorf("%s: conditions shared: %t", test.reason, got)
			}
			if diff := cmp.Diff(want, second); diff != "" {
				t.Errorf("sharing has changed something (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEqualLabelsOfBindingsAreShared(t *testing.T) {
	labelled := func(labels map[string]string) *apisv1alpha2.APIBinding {
		return &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	var c common
	first, second := labelled(map[string]string{"export": "a", "more": "b"}), labelled(map[string]string{"more": "b", "export": "a"})
	third := labelled(map[string]string{"export": "b", "more": "a"})
	for _, b := range []*apisv1alpha2.APIBinding{first, second, third} {
		c.shareBinding(b, strings.Clone)
	}
	first.Labels["seen"] = "in both"
	if second.Labels["seen"] == "" || third.Labels["seen"] != "" || third.Labels["export"] != "b" {
		t.Errorf("labels are %v, %v and %v", first.Labels, second.Labels, third.Labels)
	}
}

func TestEqualUsersAreShared(t *testing.T) {
	by := func(user authenticationv1.UserInfo) *corev1alpha1.LogicalCluster {
		return &corev1alpha1.LogicalCluster{Spec: corev1alpha1.LogicalClusterSpec{CreatedBy: &user}}
	}
	user := authenticationv1.UserInfo{
		Username: "alice", Groups: []string{"a", "b"}, Extra: map[string]authenticationv1.ExtraValue{"scope": {"x", "y"}},
	}
	for name, test := range map[string]struct {
		reason string
		other  authenticationv1.UserInfo
		shared bool
	}{
		"Equal":        {"the same user is there once", *user.DeepCopy(), true},
		"Groups":       {"other groups are another user", authenticationv1.UserInfo{Username: "alice", Groups: []string{"a"}, Extra: user.Extra}, false},
		"UID":          {"so is another UID", authenticationv1.UserInfo{Username: "alice", UID: "1", Groups: user.Groups, Extra: user.Extra}, false},
		"GroupAsExtra": {"what is a group in the one is not in the other", authenticationv1.UserInfo{Username: "alice", Groups: []string{"a", "b", "scope", "x", "y"}}, false},
		"Separators": {
			"nobody can be called so that he is taken for another",
			authenticationv1.UserInfo{Username: "alice\x000\x00\x012\x001\x00a\x001\x00b\x01"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c common
			first, second := by(user), by(test.other)
			want := second.DeepCopy()
			c.shareLogicalCluster(first, strings.Clone)
			c.shareLogicalCluster(second, strings.Clone)
			if got := first.Spec.CreatedBy == second.Spec.CreatedBy; got != test.shared {
				t.Errorf("%s: shared: %t", test.reason, got)
			}
			if diff := cmp.Diff(want, second); diff != "" {
				t.Errorf("sharing has changed something (-want +got):\n%s", diff)
			}
		})
	}
}
