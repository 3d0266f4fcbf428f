package exec

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestPrefixer(t *testing.T) {
	cases := map[string]struct {
		reason string
		writes []string
		want   string
	}{
		"Lines":    {"each line has the prefix", []string{"a\nb\n"}, "p| a\np| b\n"},
		"Parts":    {"a line may come in parts", []string{"a", "b", "\nc", "\n"}, "p| ab\np| c\n"},
		"NoEnd":    {"the last line may have no end", []string{"a\nb"}, "p| a\np| b\n"},
		"Empty":    {"an empty line is a line", []string{"\n\n"}, "p| \np| \n"},
		"Nothing":  {"who says nothing has no line", nil, ""},
		"LongLine": {"what never ends is not kept for ever", []string{strings.Repeat("x", longestLine), "y\n"}, "p| " + strings.Repeat("x", longestLine) + "\np| y\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &prefixer{w: &out, mu: &sync.Mutex{}, prefix: "p| "}
			for _, s := range tc.writes {
				if n, err := p.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, len(s), err)
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	cases := map[string]struct {
		reason  string
		display display.Display
		path    string
		want    string
	}{
		"Usual":  {"a line of its own", display.Display{}, "root:acme:platform", "── root:acme:platform ──────────────────────────────"},
		"ASCII":  {"without other characters", display.Display{ASCII: true}, "root:acme", "-- root:acme ---------------------------------------"},
		"Narrow": {"not wider than the terminal", display.Display{Width: 20}, "root:acme", "── root:acme ───────"},
		"Cut":    {"a long path is cut in the middle", display.Display{Width: 20}, "root:acme:payments:eu", "── root:ac…ents:eu ─"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := header(tc.display, tc.path)
			if tc.display.Width > 0 && display.Cells(got) > tc.display.Width {
				t.Errorf("%q is wider than %d", got, tc.display.Width)
			}
			if name != "Cut" && strings.TrimRight(got, "─-") != strings.TrimRight(tc.want, "─-") {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	came := func(path string, ran bool, code int) *result {
		return &result{path: logicalcluster.MustParsePath(path), ran: ran, code: code}
	}
	cases := map[string]struct {
		results []*result
		want    string
		code    int
	}{
		"Fine":   {[]*result{came("root:a", true, 0), came("root:b", true, 0)}, "2 workspaces: 2 ok", 0},
		"One":    {[]*result{came("root:a", true, 0)}, "1 workspace: 1 ok", 0},
		"Failed": {[]*result{came("root:a", true, 0), came("root:b", true, 9), came("root:c", true, 1)}, "3 workspaces: 1 ok, 2 failed (root:b: exit 9, root:c: exit 1)", 9},
		"Ended":  {[]*result{came("root:a", true, 1), came("root:b", false, 0)}, "2 workspaces: 0 ok, 1 failed (root:a: exit 1), 1 not started", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := summary(tc.results); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if got := highest(tc.results); got != tc.code {
				t.Errorf("got %d, want %d", got, tc.code)
			}
		})
	}
}
