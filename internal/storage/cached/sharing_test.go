package cached

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
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
