package tree

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/tenancy"
)

// diamond returns a, b and c that extend a, and d that extends both of them.
func diamond(t *testing.T) *graph {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:x", "root:organization")
	add := func(name string, hook bool, bases ...string) {
		spec := tenancyv1alpha1.WorkspaceTypeSpec{Initializer: hook, Terminator: hook}
		for _, base := range bases {
			spec.Extend.With = append(spec.Extend.With, tenancyv1alpha1.WorkspaceTypeReference{Name: base})
		}
		tree.AddTypeSpec("root:x", name, spec)
	}
	add("a", true)
	add("b", false, "a")
	add("c", false, "a")
	add("d", false, "c", "b")
	add("e", false, "d")
	var sets []*tenancy.Set
	for _, name := range []string{"e", "d", "c", "b", "a"} {
		set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:x"), tenancyv1alpha1.WorkspaceTypeReference{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return newGraph(sets)
}

func TestDraw(t *testing.T) {
	cases := map[string]struct {
		reason string
		draw   func(*bytes.Buffer, *graph) error
		want   string
	}{
		"Tree": {
			reason: "what extends two is drawn below both, and once in full",
			draw:   func(b *bytes.Buffer, g *graph) error { return draw(b, display.Display{}, g) },
			want: `root:x:a (initializer, terminator)
├── root:x:b
│   └── root:x:d
│       └── root:x:e
└── root:x:c
    └── root:x:d (see above)
`,
		},
		"ASCII": {
			reason: "without other characters, and narrow",
			draw:   func(b *bytes.Buffer, g *graph) error { return draw(b, display.Display{ASCII: true, Width: 16}, g) },
			want:   "root:x:...nator)\n|-- root:x:b\n|   `-- root:x:d\n|       `-- root\n`-- root:x:c\n    `-- roo...e)\n",
		},
		"Dot": {
			reason: "Graphviz draws the edges itself",
			draw:   func(b *bytes.Buffer, g *graph) error { return drawDot(b, g) },
			want: `digraph types {
  rankdir=BT;
  node [shape=box];
  "root:x:a";
  "root:x:b";
  "root:x:c";
  "root:x:d";
  "root:x:e";
  "root:x:b" -> "root:x:a";
  "root:x:c" -> "root:x:a";
  "root:x:d" -> "root:x:c";
  "root:x:d" -> "root:x:b";
  "root:x:e" -> "root:x:d";
}
`,
		},
		"Mermaid": {
			reason: "and so does Mermaid, which has no names with colons",
			draw:   func(b *bytes.Buffer, g *graph) error { return drawMermaid(b, g) },
			want: `graph BT
  t0["root:x:a"]
  t1["root:x:b"]
  t2["root:x:c"]
  t3["root:x:d"]
  t4["root:x:e"]
  t1 --> t0
  t2 --> t0
  t3 --> t2
  t3 --> t1
  t4 --> t3
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := tc.draw(&out, diamond(t)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
