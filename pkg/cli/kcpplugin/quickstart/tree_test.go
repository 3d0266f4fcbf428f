package quickstart

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestGrow(t *testing.T) {
	org := logicalcluster.MustParsePath("root:org")
	tree := func(seed uint64) []string {
		var paths []string
		known := map[string]bool{org.String(): true}
		for _, p := range grow(org, "q", 200, 3, rand.New(rand.NewPCG(seed, 0))) {
			parent, _ := p.path.Parent()
			if !known[parent.String()] {
				t.Errorf("%s is made before the workspace it is in", p.path)
			}
			if p.depth < 1 || p.depth > 3 {
				t.Errorf("%s is at depth %d", p.path, p.depth)
			}
			known[p.path.String()] = true
			paths = append(paths, p.path.String())
		}
		return paths
	}
	first := tree(1)
	if len(first) != 200 {
		t.Errorf("there are %d workspaces, want 200", len(first))
	}
	if diff := cmp.Diff(first, tree(1)); diff != "" {
		t.Errorf("the same seed makes another tree:\n%s", diff)
	}
	if cmp.Equal(first, tree(2)) {
		t.Error("another seed makes the same tree")
	}
}

// TestSchema: the API is embedded, so that an error in it shows here and not to users.
func TestSchema(t *testing.T) {
	s, err := cowboySchema()
	if err != nil {
		t.Fatal(err)
	}
	if want := "today.cowboys.wildwest.dev"; s.Name != want {
		t.Errorf("the schema is called %s, want %s", s.Name, want)
	}
}
