package workspacetype

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

func TestDecide(t *testing.T) {
	shard := func(name, address string) corev1alpha1.Shard {
		s := corev1alpha1.Shard{}
		s.Name, s.Spec.VirtualWorkspaceURL = name, address
		return s
	}
	both := func(address string) []tenancyv1alpha1.VirtualWorkspace {
		return []tenancyv1alpha1.VirtualWorkspace{
			{URL: address + "/services/initializingworkspaces/abc:x", Type: tenancyv1alpha1.VirtualWorkspaceInitializing},
			{URL: address + "/services/terminatingworkspaces/abc:x", Type: tenancyv1alpha1.VirtualWorkspaceTerminating},
		}
	}
	before := both("https://before")
	for name, tc := range map[string]struct {
		reason string
		shards []corev1alpha1.Shard
		want   []tenancyv1alpha1.VirtualWorkspace
		fails  bool
	}{
		"One":     {reason: "the initializers come first", shards: []corev1alpha1.Shard{shard("root", "https://a:6443")}, want: both("https://a:6443")},
		"Sorted":  {reason: "shards come in the order of their names", shards: []corev1alpha1.Shard{shard("b", "https://b"), shard("a", "https://a/below/")}, want: append(both("https://a/below"), both("https://b")...)},
		"Without": {reason: "a shard without an address has none to publish", shards: []corev1alpha1.Shard{shard("a", ""), shard("b", "https://b")}, want: both("https://b")},
		"None":    {reason: "no shards, no addresses"},
		"Invalid": {reason: "what was known stays if it cannot be said anew", shards: []corev1alpha1.Shard{shard("a", "https://a"), shard("b", "b:x:y")}, want: before, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			object := &tenancyv1alpha1.WorkspaceType{}
			object.Name, object.Status.VirtualWorkspaces = "x", before
			of := tenancy.Type{Place: tenancy.Place{Cluster: logicalcluster.MustParseName("abc")}, Object: object}
			got := Decide(of, tc.shards)
			if diff := cmp.Diff(tc.want, got.Status.VirtualWorkspaces); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			for _, kind := range []conditions.Type{conditions.Ready, tenancyv1alpha1.VirtualWorkspaceURLsReady} {
				if tc.fails && conditions.Reason(got, kind) != tenancyv1alpha1.ReasonErrorGeneratingURLs || !tc.fails && !conditions.IsTrue(got, kind) {
					t.Errorf("%s: %s: %v", tc.reason, kind, got.Status.Conditions)
				}
			}
			if len(object.Status.Conditions) > 0 || Decide(tenancy.Type{Place: of.Place, Object: got}, tc.shards).Status.Conditions[0] != got.Status.Conditions[0] {
				t.Errorf("%s: the type was changed, or changes again", tc.reason)
			}
		})
	}
}
