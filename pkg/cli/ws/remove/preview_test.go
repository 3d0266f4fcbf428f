package remove

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestPreview(t *testing.T) {
	now := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason  string
		display display.Display
		change  func(*inventory)
		want    string
	}{
		"Everything": {
			reason: "what goes, and who loses something",
			change: func(inv *inventory) {
				inv.below = []string{"eu", "us", "us:old"}
				inv.exports = []export{{name: "payments.acme.io", consumers: 14, known: true}}
				inv.objects, inv.resources = 211, 9
			},
			want: `root:acme:payments (team, 12d old)
  3 workspaces below it     eu, us, us:old
  1 APIExport               payments.acme.io, bound by 14 workspaces      these lose the API
  211 objects in 9 resources
`,
		},
		"Little": {
			reason: "nothing is said about what is not there",
			change: func(inv *inventory) { inv.objects, inv.resources = 1, 1 },
			want: `root:acme:payments (team, 12d old)
  1 object in 1 resource
`,
		},
		"Hidden": {
			reason: "what may not be read is a question mark",
			change: func(inv *inventory) {
				inv.hidden, inv.hiddenExports = true, true
				inv.exports = []export{{name: "a"}}
				inv.hiddenResources = 3
			},
			want: `root:acme:payments (team, 12d old)
  ? workspaces below it
  1 or more APIExports     a, bound by ? workspaces      these lose the API
  ? objects
`,
		},
		"Unbound": {
			reason: "nobody loses what nobody has",
			change: func(inv *inventory) {
				inv.exports = []export{{name: "b", known: true}, {name: "a", known: true, consumers: 0}}
				inv.objects, inv.resources, inv.hiddenResources = 4, 2, 1
			},
			want: `root:acme:payments (team, 12d old)
  2 APIExports     a, bound by 0 workspaces; b, bound by 0 workspaces
  4 objects in 2 resources, ? in 1 resource
`,
		},
		"Many": {
			reason: "who has a lot is not counted to the end",
			change: func(inv *inventory) {
				inv.below = []string{"a", "b", "c", "d", "e", "f", "g"}
				inv.objects, inv.resources, inv.uncounted = 1000, 12, true
			},
			want: `root:acme:payments (team, 12d old)
  7 workspaces below it     a, b, c, d, e and 2 more
  more than 1000 objects in 12 resources
`,
		},
		"Narrow": {
			reason:  "lines are not wrapped",
			display: display.Display{Width: 30},
			change: func(inv *inventory) {
				inv.below = []string{"eu", "us", "us:old"}
			},
			want: `root:acme:payments (team, 12d…
  3 workspaces below it     e…
  0 objects in 0 resources
`,
		},
		"Mount": {
			reason: "what is mounted stays",
			change: func(inv *inventory) {
				inv.workspace.Spec = tenancyv1alpha1.WorkspaceSpec{Mount: &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{Kind: "Cluster", Name: "lab"}}}
			},
			want: "root:acme:payments (mounted Cluster/lab, which stays, 12d old)\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "payments", CreationTimestamp: metav1.NewTime(now.Add(-12 * 24 * time.Hour))}}
			ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Path: "root:acme", Name: "team"}
			inv := start(logicalcluster.MustParsePath("root:acme:payments"), ws)
			tc.change(inv)
			if diff := cmp.Diff(tc.want, preview(tc.display, inv, now)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestContains(t *testing.T) {
	ws := &tenancyv1alpha1.Workspace{}
	ws.Spec.Cluster = "2kb1y3r0q9x8w7v6"
	inv := start(logicalcluster.MustParsePath("root:acme"), ws)
	for path, want := range map[string]bool{
		"root:acme": true, "root:acme:eu": true, "2kb1y3r0q9x8w7v6": true, "2kb1y3r0q9x8w7v6:eu:x": true,
		"root": false, "root:acme2": false, "root:a": false, "3kb1y3r0q9x8w7v6": false,
	} {
		if got := inv.contains(logicalcluster.MustParsePath(path)); got != want {
			t.Errorf("root:acme contains %s: %v", path, got)
		}
	}
}
