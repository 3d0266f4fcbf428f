package model

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/display"
)

var update = flag.Bool("update", false, "write the golden files anew")

// example is what the picker of the guide knows.
func example() []Candidate {
	return []Candidate{
		{Path: "root:acme:payments", Pin: "prod"},
		{Path: "root", Stage: ""},
		{Path: "root:acme", Type: "organization", Stage: "Ready", Role: display.OK},
		{Path: "root:lab", Type: "organization", Stage: "Ready", Role: display.OK},
		{Path: "root:acme:payments", Type: "team", Stage: "Ready", Role: display.OK},
		{Path: "root:lab:payload-tests", Type: "universal", Stage: "Initializing 8s", Role: display.Waiting},
		{Path: "root:acme:payments:eu", Type: "universal", Stage: "Ready", Role: display.OK},
	}
}

// crowd are many candidates.
func crowd(n int) []Candidate {
	all := make([]Candidate, 0, n)
	for i := range n {
		all = append(all, Candidate{Path: fmt.Sprintf("root:org-%d:team-%d", i%20, i), Type: "universal", Stage: "Ready", Role: display.OK})
	}
	return all
}

// TestFrames compares what is drawn with golden files.
func TestFrames(t *testing.T) {
	wide := display.Display{Terminal: true, Width: 100}
	cases := map[string]struct {
		options Options
		found   []Candidate
		// typed is what is typed, keys are pressed after that.
		typed    string
		keys     []string
		display  display.Display
		complete bool
		trouble  string
	}{
		"empty":       {options: Options{Tree: true}, display: wide},
		"all":         {options: Options{Tree: true}, found: example(), display: wide, complete: true},
		"pay":         {options: Options{Tree: true}, found: example(), typed: "pay", display: wide, complete: true},
		"pay-down":    {options: Options{Tree: true}, found: example(), typed: "pay", keys: []string{"down"}, display: wide},
		"pay-40":      {options: Options{Tree: true}, found: example(), typed: "pay", display: display.Display{Terminal: true, Width: 40}, complete: true},
		"pay-60":      {options: Options{Tree: true}, found: example(), typed: "pay", display: display.Display{Terminal: true, Width: 60}, complete: true},
		"pay-20":      {found: example(), typed: "pay", display: display.Display{Terminal: true, Width: 20}, complete: true},
		"pay-ascii":   {options: Options{Print: true}, found: example(), typed: "pay", display: display.Display{Terminal: true, Width: 60, ASCII: true}},
		"pay-color":   {found: example(), typed: "pay", display: display.Display{Terminal: true, Width: 80, Color: true}, complete: true},
		"pin":         {found: example(), typed: "@p", display: wide, complete: true},
		"none":        {found: example(), typed: "xyz", display: wide, complete: true},
		"trouble":     {found: example()[:1], display: wide, complete: true, trouble: "root may not be listed"},
		"scrolled":    {found: crowd(50), keys: []string{"pgdown", "down"}, display: wide},
		"scrolled-up": {found: crowd(50), keys: []string{"end", "pgup", "up"}, display: wide, complete: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := New(tc.options)
			m.Add(tc.found...)
			m.Type(tc.typed)
			for _, key := range tc.keys {
				m.Key(key)
			}
			if tc.complete {
				m.Complete(tc.trouble)
			}
			lines, cursor := m.View(tc.display)
			for _, line := range lines {
				if display.Cells(line) > tc.display.Width {
					t.Errorf("%q takes %d cells, there are %d", line, display.Cells(line), tc.display.Width)
				}
			}
			golden(t, name+".txt", strings.Join(lines, "\n")+"\n"+fmt.Sprintf("cursor at %d\n", cursor))
		})
	}
}

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

func TestKeys(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options Options
		keys    string
		// answer is what the last key means, picked the selected workspace and query what
		// is typed by then.
		answer        Answer
		picked, query string
	}{
		"Enter":     {reason: "enter picks what is selected", keys: "p a y enter", answer: Pick, picked: "root:acme:payments", query: "pay"},
		"Down":      {reason: "arrows select", keys: "p a y down enter", answer: Pick, picked: "root:acme:payments:eu", query: "pay"},
		"Up":        {reason: "there is nothing above the first", keys: "up enter", answer: Pick, picked: "root:acme:payments"},
		"Emacs":     {reason: "keys of shells work", keys: "ctrl+n ctrl+n ctrl+p enter", answer: Pick, picked: "root"},
		"End":       {reason: "the last one", keys: "end", picked: "root:acme:payments:eu"},
		"Home":      {reason: "and the first", keys: "end home", picked: "root:acme:payments"},
		"Typing":    {reason: "typing selects the best one again", keys: "end p", picked: "root:acme:payments", query: "p"},
		"Escape":    {reason: "esc leaves", keys: "esc", answer: Leave, picked: "root:acme:payments"},
		"Interrupt": {reason: "so does ctrl-c", keys: "x ctrl+c", answer: Leave, query: "x"},
		"Nothing":   {reason: "what is not there cannot be picked", keys: "x y z enter", query: "xyz"},
		"Tree":      {reason: "the tree opens where one is", options: Options{Tree: true}, keys: "down ctrl+t", answer: Tree, picked: "root"},
		"NoTree":    {reason: "if there is one", keys: "down ctrl+t", picked: "root"},
		"Backspace": {reason: "what was typed can be taken back", keys: "p x backspace", picked: "root:acme:payments", query: "p"},
		"Empty":     {reason: "even if nothing was", keys: "backspace ctrl+w ctrl+u", picked: "root:acme:payments"},
		"Clear":     {reason: "all at once", keys: "p a ctrl+u", picked: "root:acme:payments"},
		"Word":      {reason: "or a name", keys: "a : b ctrl+w", picked: "root:acme:payments", query: "a:"},
		"Slash":     {reason: "paths are typed in both ways", keys: "/ r o o t / l a b enter", answer: Pick, picked: "root:lab", query: "/root/lab"},
		"Space":     {reason: "paths have no spaces", keys: "p space", picked: "root:acme:payments", query: "p"},
		"Unknown":   {reason: "other keys mean nothing", keys: "f1 ctrl+x", picked: "root:acme:payments"},
		"Tab":       {reason: "tab types what all matches have", keys: "l a b : tab", picked: "root:lab:payload-tests", query: "root:lab:payload-tests"},
		"TabAmong":  {reason: "as far as they have the same", keys: "p a y m tab", picked: "root:acme:payments", query: "root:acme:payments"},
		"TabDiffer": {reason: "which may be nothing", keys: "p a y tab", picked: "root:acme:payments", query: "pay"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := New(tc.options)
			m.Add(example()...)
			var answer Answer
			for _, key := range strings.Fields(tc.keys) {
				answer = m.Key(key)
			}
			picked, _ := m.Picked()
			if answer != tc.answer || picked.Path != tc.picked || m.query != tc.query {
				t.Errorf("%s: answer %v, %q is selected, %q is typed; want %v, %q, %q", tc.reason, answer, picked.Path, m.query, tc.answer, tc.picked, tc.query)
			}
		})
	}
}

func TestOnlyMatch(t *testing.T) {
	cases := map[string]struct {
		reason, query string
		touch         bool
		want          Answer
	}{
		"One":     {"one workspace that fits is picked at once", "lab:pay", false, Pick},
		"Several": {"of several somebody has to pick", "pay", false, None},
		"None":    {"none cannot be picked", "xyz", false, None},
		"NoQuery": {"who did not ask for one gets to see all", "", false, None},
		"Touched": {"who has begun to type is not interrupted", "lab:pay", true, None},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := New(Options{Query: tc.query})
			m.Add(example()...)
			if tc.touch {
				m.Key("down")
			}
			if got := m.Complete(""); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestSelectionStays: what comes in while somebody looks does not take away what they have
// moved to.
func TestSelectionStays(t *testing.T) {
	m := New(Options{Query: "team"})
	m.Add(Candidate{Path: "root:x:team-b"}, Candidate{Path: "root:x:team-cc"})
	m.Key("down")
	for i := range 30 {
		m.Add(Candidate{Path: fmt.Sprintf("root:team:%d", i)}, Candidate{Path: "team"})
	}
	if picked, _ := m.Picked(); picked.Path != "root:x:team-cc" {
		t.Errorf("%s is selected", picked.Path)
	}
	lines, _ := m.View(display.Display{})
	if !strings.Contains(strings.Join(lines, "\n"), "❯ root:x:team-cc") {
		t.Errorf("the selected one is not shown:\n%s", strings.Join(lines, "\n"))
	}
}

// BenchmarkKey is what a key costs among as many candidates as there can be.
func BenchmarkKey(b *testing.B) {
	m := New(Options{})
	m.Add(crowd(5000)...)
	d := display.Display{Terminal: true, Width: 100, Color: true}
	for b.Loop() {
		m.Key("t")
		m.View(d)
		m.Key("backspace")
		m.View(d)
	}
}
