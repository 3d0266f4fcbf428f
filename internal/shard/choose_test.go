package shard

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

func named(name string, annotations map[string]string) corev1alpha1.Shard {
	return corev1alpha1.Shard{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1alpha1.ShardNameLabelKey: name}, Annotations: annotations,
	}}
}

func TestChoose(t *testing.T) {
	shards := []corev1alpha1.Shard{
		named("full", map[string]string{corev1alpha1.UnschedulableAnnotationKey: ""}),
		named("one", nil),
		named("two", nil),
	}
	first := func(int) int { return 0 }
	last := func(n int) int { return n - 1 }
	for name, tc := range map[string]struct {
		reason   string
		selector *metav1.LabelSelector
		pick     func(int) int
		want     string
	}{
		"First":         {reason: "an unschedulable shard is passed over, whatever its annotation says", pick: first, want: "one"},
		"Last":          {reason: "all others are candidates", pick: last, want: "two"},
		"Selected":      {reason: "the selector restricts them", selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "two"}}, pick: first, want: "two"},
		"Unschedulable": {reason: "a selector does not overrule the annotation", selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "full"}}, pick: first},
		"NoMatch":       {reason: "nothing fits", selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "none"}}, pick: first},
		"Invalid": {reason: "a selector that makes no sense fits nothing", pick: first, selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "name", Operator: "Sometimes"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Choose(shards, tc.selector, tc.pick)
			switch {
			case tc.want == "" && !errors.Is(err, ErrNone):
				t.Errorf("%s: got %v, %v", tc.reason, got, err)
			case tc.want != "" && (err != nil || got.Name != tc.want):
				t.Errorf("%s: got %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestChooseSaysWhy(t *testing.T) {
	full := []corev1alpha1.Shard{named("full", map[string]string{corev1alpha1.UnschedulableAnnotationKey: "false"})}
	for name, tc := range map[string]struct {
		reason   string
		selector *metav1.LabelSelector
		want     string
	}{
		"Anywhere": {
			reason: "who has not selected anything is told of no selector",
			want:   "no shard takes workspaces: there is none without the annotation experimental.core.kcp.io/unschedulable",
		},
		"EmptySelector": {
			reason: "nor is who has selected everything", selector: &metav1.LabelSelector{},
			want: "no shard takes workspaces: there is none without the annotation experimental.core.kcp.io/unschedulable",
		},
		"Selected": {
			reason: "the selector is what can be changed", selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "none"}},
			want: `no shard matches the location selector "name=none" and takes workspaces`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Choose(full, tc.selector, func(int) int { return 0 })
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

func TestCheckURL(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://kcp.example.com:6443":    true,
		"https://kcp.example.com/prefix":  true,
		"kcp.example.com":                 false,
		"":                                false,
		"https://%zz":                     false,
		"/just/a/path":                    false,
		"https://user@kcp.example.com:12": true,
	} {
		shard := named("one", nil)
		shard.Spec.ExternalURL = url
		if err := CheckURL(&shard); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}
