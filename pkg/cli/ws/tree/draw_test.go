package tree

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares lines with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

var noon = time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)

// workspace puts a workspace called name below parent.
func workspace(parent *walk.Node, name, kind string, edit func(*walk.Node)) *walk.Node {
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-8 * time.Second))}}
	ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: kind}
	ws.Status.Phase = corev1alpha1.PhaseReady
	n := &walk.Node{
		Name: name, Path: parent.Path.Join(name), Cluster: "cluster-" + name,
		Workspace: ws, Parent: parent, Depth: parent.Depth + 1,
	}
	if edit != nil {
		edit(n)
	}
	parent.Children = append(parent.Children, n)
	return n
}

// acme is a tree with everything that can be in one.
func acme() (*walk.Node, *more) {
	root := &walk.Node{Name: "root", Path: logicalcluster.Root.Path(), Cluster: "root"}
	org := workspace(root, "acme", "organization", nil)
	platform := workspace(org, "platform", "team", nil)
	payments := workspace(org, "payments", "team", nil)
	eu := workspace(payments, "eu", "universal", func(n *walk.Node) { n.Hidden = 12 })
	workspace(payments, "us", "universal", func(n *walk.Node) {
		n.Workspace.Status.Phase = corev1alpha1.PhaseInitializing
		n.Workspace.Status.Initializers = []corev1alpha1.Initializer{"root:acme:team"}
	})
	workspace(org, "secret", "team", func(n *walk.Node) { n.Forbidden = true })
	workspace(org, "broken", "team", func(n *walk.Node) { n.Err = errors.New("the server is busy") })
	workspace(org, "lab", "", func(n *walk.Node) {
		n.Workspace.Spec.Type = nil
		n.Workspace.Spec.Mount = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{APIVersion: "mounts.example.com/v1", Kind: "Cluster", Name: "lab"}}
		n.Workspace.Status.Phase = corev1alpha1.PhaseUnavailable
		n.Workspace.CreationTimestamp = metav1.Time{}
	})
	m := &more{phases: map[*walk.Node]string{root: "Ready", org: "Ready", platform: "Ready", payments: "Ready", eu: "Ready"}, apis: map[*walk.Node]apis{}}
	bind := func(name, path, export, phase string) client.Binding {
		b := client.Binding{}
		b.Name = name
		b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: path, Name: export}
		b.Status.Phase = apisv1alpha2.APIBindingPhase(phase)
		return b
	}
	export := client.Export{}
	export.Name = "widgets.acme.io"
	m.apis[platform] = apis{exports: []client.Export{export}}
	bound := bind("widgets", "root:elsewhere", "widgets.acme.io", "Bound")
	bound.Status.APIExportClusterName = "cluster-platform"
	m.apis[payments] = apis{bindings: []client.Binding{bound}}
	m.apis[eu] = apis{bindings: []client.Binding{bind("gadgets", "root:other", "gadgets.io", "Binding")}, err: errors.New("no exports today")}
	return root, m
}

func TestDraw(t *testing.T) {
	top, m := acme()
	narrow := display.Display{Terminal: true, Width: 40}
	cases := map[string]struct {
		sketch sketch
		filter filter
	}{
		"plain":           {},
		"full":            {sketch: sketch{full: true}},
		"wide":            {sketch: sketch{wide: true}},
		"status":          {sketch: sketch{status: true}},
		"status-wide":     {sketch: sketch{status: true, wide: true, full: true}},
		"bindings":        {sketch: sketch{bindings: true}},
		"bindings-status": {sketch: sketch{bindings: true, status: true}},
		"ascii":           {sketch: sketch{status: true, bindings: true, display: display.Display{ASCII: true}}},
		"color":           {sketch: sketch{status: true, display: display.Display{Terminal: true, Width: 80, Color: true}}},
		"narrow":          {sketch: sketch{full: true, bindings: true, display: narrow}},
		"narrow-status":   {sketch: sketch{status: true, display: narrow}},
		"narrow-wide":     {sketch: sketch{wide: true, status: true, display: narrow}},
		"narrow-ascii":    {sketch: sketch{full: true, display: display.Display{Terminal: true, Width: 30, ASCII: true}}},
		"type":            {filter: filter{kind: "root:universal"}},
		"type-name":       {filter: filter{kind: "Team"}},
		"phase":           {filter: filter{phase: "initializing"}},
		"mount-type":      {filter: filter{kind: "cluster/lab"}},
		"nothing":         {filter: filter{kind: "nope"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.sketch.more, tc.sketch.now = m, noon
			lines := tc.sketch.draw(tc.filter.prune(top))
			golden(t, name+".txt", strings.Join(lines, "\n")+"\n")
			for _, line := range lines {
				if width := tc.sketch.display.Width; width > 0 && display.Cells(line) > width {
					t.Errorf("%q takes %d cells, there are %d", line, display.Cells(line), width)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%q ends in spaces", line)
				}
			}
		})
	}
}

func TestGraphs(t *testing.T) {
	top, m := acme()
	shown := filter{}.prune(top)
	golden(t, "tree.dot", strings.Join(m.graph(shown).dot(false), "\n")+"\n")
	golden(t, "tree.mermaid", strings.Join(m.graph(shown).mermaid(true), "\n")+"\n")
	if got := quoted("a\"b\\c\nd"); got != `"a\"b\\c\nd"` {
		t.Errorf("a name with everything in it is %s", got)
	}
	if got := escaped(`#"<x>`); got != "#35;#quot;#lt;x#gt;" {
		t.Errorf("what means something to Mermaid is escaped, not %s", got)
	}
}

func TestView(t *testing.T) {
	top, m := acme()
	document, err := yaml.Marshal(m.view(filter{}.prune(top)))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "view.yaml", string(document))
}

func TestPaths(t *testing.T) {
	top, _ := acme()
	cases := map[string]struct {
		reason       string
		filter       filter
		paths, names []string
	}{
		"All": {
			reason: "all are there in the order of the drawing",
			paths: []string{
				":root", ":root:acme", ":root:acme:platform", ":root:acme:payments", ":root:acme:payments:eu", ":root:acme:payments:us",
				":root:acme:secret", ":root:acme:broken", ":root:acme:lab",
			},
			names: []string{
				"workspace.tenancy.kcp.io/acme", "workspace.tenancy.kcp.io/platform", "workspace.tenancy.kcp.io/payments",
				"workspace.tenancy.kcp.io/eu", "workspace.tenancy.kcp.io/us", "workspace.tenancy.kcp.io/secret",
				"workspace.tenancy.kcp.io/broken", "workspace.tenancy.kcp.io/lab",
			},
		},
		"Filtered": {
			reason: "what only leads to what was asked for is no answer",
			filter: filter{kind: "universal", phase: "Initializing"},
			paths:  []string{":root:acme:payments:us"},
			names:  []string{"workspace.tenancy.kcp.io/us"},
		},
		"None": {reason: "there may be none", filter: filter{kind: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			shown := tc.filter.prune(top)
			if diff := cmp.Diff(tc.paths, paths(shown)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.names, names(shown)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
