package completion

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

func TestSplit(t *testing.T) {
	cases := map[string]struct {
		reason string
		typed  string
		want   place
	}{
		"Nothing":      {reason: "children of the current workspace come first", typed: "", want: place{workspace: "."}},
		"Name":         {reason: "a name is a child's", typed: "pa", want: place{workspace: ".", typed: "pa"}},
		"Child":        {reason: "behind a colon it goes on", typed: "pa:e", want: place{workspace: "pa", before: "pa:", typed: "e"}},
		"Slash":        {reason: "what was typed stays as it was typed", typed: "pa/e", want: place{workspace: "pa", before: "pa/", typed: "e"}},
		"Top":          {reason: "no workspace lists the tops", typed: ":ro", want: place{before: ":", typed: "ro", absolute: true}},
		"Absolute":     {reason: "the rest of an absolute path is listed", typed: ":root:ac", want: place{workspace: ":root", before: ":root:", typed: "ac"}},
		"Parent":       {reason: "the parent is a workspace already", typed: "..", want: place{workspace: "..", before: "..:"}},
		"Sibling":      {reason: "its children are siblings", typed: "..:b", want: place{workspace: "..", before: "..:", typed: "b"}},
		"Home":         {reason: "so is home", typed: "~", want: place{workspace: "~", before: "~:"}},
		"BelowHome":    {reason: "and below it", typed: "~:a:b", want: place{workspace: "~:a", before: "~:a:", typed: "b"}},
		"Pin":          {reason: "a pin is an argument like others", typed: "@prod:e", want: place{workspace: "@prod", before: "@prod:", typed: "e"}},
		"Grandparents": {reason: "dots may be anywhere", typed: "../../b", want: place{workspace: "../..", before: "../../", typed: "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, split(tc.typed), cmp.AllowUnexported(place{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSlots(t *testing.T) {
	cases := map[string]struct {
		reason string
		use    string
		want   []slot
	}{
		"None":     {reason: "a command without arguments", use: "tree"},
		"One":      {reason: "what is required", use: "use PATH", want: []slot{{names: []string{"PATH"}}}},
		"Optional": {reason: "brackets say that it may be left out", use: "workspace [PATH]", want: []slot{{names: []string{"PATH"}}}},
		"Repeated": {reason: "dots say that it may be repeated", use: "delete PATH...", want: []slot{{names: []string{"PATH"}, repeated: true}}},
		"Brackets": {reason: "both", use: "pull [RESOURCE]...", want: []slot{{names: []string{"RESOURCE"}, repeated: true}}},
		"Two":      {reason: "one may need the other", use: "pin [NAME [PATH]]", want: []slot{{names: []string{"NAME"}}, {names: []string{"PATH"}}}},
		"Choice":   {reason: "braces are a choice", use: "binding {BINDING | PATH:EXPORT}", want: []slot{{names: []string{"BINDING", "PATH:EXPORT"}}}},
		"Flags":    {reason: "flags are no arguments", use: "snapshot -f [FILE]", want: []slot{{names: []string{"FILE"}}}},
		"Others":   {reason: "the rest is another program's", use: "exec [PATH...] -- COMMAND [ARG...]", want: []slot{{names: []string{"PATH"}, repeated: true}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, slotsOf(tc.use), cmp.AllowUnexported(slot{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestChoose: each argument is completed by what the usage line calls it.
func TestChoose(t *testing.T) {
	arguments := map[string]source{
		"A": fixed("a"), "B": fixed("b="),
		"FAILS": func(context.Context, question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
			return []cobra.Completion{"wrong"}, path, errors.New("no")
		},
	}
	cases := map[string]struct {
		reason    string
		use       string
		args      []string
		want      []cobra.Completion
		directive cobra.ShellCompDirective
	}{
		"First":    {reason: "the first argument", use: "x A B", want: []cobra.Completion{"a"}, directive: words},
		"Second":   {reason: "the second one", use: "x A B", args: []string{"a"}, want: []cobra.Completion{"b="}, directive: path},
		"TooMany":  {reason: "there is no third one", use: "x A B", args: []string{"a", "b"}, directive: words},
		"Repeated": {reason: "a third one of the same", use: "x A B...", args: []string{"a", "b"}, want: []cobra.Completion{"b="}, directive: path},
		"Choice":   {reason: "either", use: "x {A | FAILS | B}", want: []cobra.Completion{"a", "b="}, directive: path},
		"Unknown":  {reason: "names are the user's to choose", use: "x NAME A", directive: words},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, directive, err := choose(slotsOf(tc.use), arguments)(t.Context(), question{args: tc.args})
			if diff := cmp.Diff(tc.want, found); diff != "" || directive != tc.directive || err != nil {
				t.Errorf("%s: directive %d, %v (-want +got):\n%s", tc.reason, directive, err, diff)
			}
		})
	}
	if choose(slotsOf("x NAME"), arguments) != nil {
		t.Error("there is a source for nothing that it knows")
	}
}

func TestNames(t *testing.T) {
	cases := map[string]struct {
		program string
		name    string
		asked   bool
	}{
		"Plugin":       {"/usr/bin/kubectl-ws", "ws", false},
		"Completion":   {"/usr/bin/kubectl_complete-ws", "ws", true},
		"Dash":         {"kubectl-complete-ws", "ws", true},
		"TwoWords":     {"kubectl_complete-create_workspace", "create-workspace", true},
		"TwoWordsDash": {"kubectl_complete-create-workspace", "create-workspace", true},
		"Krew":         {"kubectl-create_workspace", "create-workspace", false},
		"Windows":      {"kubectl_complete-kcp.exe", "kcp", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, asked := Plugin(tc.program)
			if got := Name(tc.program); got != tc.name || asked != tc.asked {
				t.Errorf("%s is %q, asked: %v; want %q, %v", tc.program, got, asked, tc.name, tc.asked)
			}
		})
	}
}

// TestPatience: programs that get credentials know nothing of contexts, and may wait for
// somebody to type a password.
func TestPatience(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	c := &completer{finder: target.New(run.Streams{}), patience: time.Millisecond}
	found, directive := c.ask(t.Context(), func(context.Context, question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
		<-release
		return []cobra.Completion{"late"}, path, nil
	}, question{})
	if len(found) > 0 || directive != words {
		t.Errorf("the answer is %v and %d, want nothing and %d", found, directive, words)
	}
	if !c.finder.Flags.Unattended {
		t.Error("credentials may be asked for")
	}
}
