package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func TestLabelSelector(t *testing.T) {
	cases := map[string]struct {
		reason   string
		selector *ShardSelector
		labels   labels.Set
		want     bool
	}{
		"None":          {reason: "a missing selector is missing afterwards, which picks nothing", labels: labels.Set{"a": "b"}},
		"Empty":         {reason: "an empty selector picks everything", selector: &ShardSelector{}, want: true},
		"LabelMatches":  {reason: "the label is there", selector: &ShardSelector{MatchLabels: map[string]MatchLabelValue{"a": "b"}}, labels: labels.Set{"a": "b"}, want: true},
		"LabelDiffers":  {reason: "the label has another value", selector: &ShardSelector{MatchLabels: map[string]MatchLabelValue{"a": "b"}}, labels: labels.Set{"a": "c"}},
		"ExistsMatches": {reason: "a requirement may have no values", selector: &ShardSelector{MatchExpressions: []ShardSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}}, labels: labels.Set{"a": ""}, want: true},
		"InMatches":     {reason: "values are kept", selector: &ShardSelector{MatchExpressions: []ShardSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []RequirementValue{"b", "c"}}}}, labels: labels.Set{"a": "c"}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			selector, err := metav1.LabelSelectorAsSelector(tc.selector.LabelSelector())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, selector.Matches(tc.labels)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
