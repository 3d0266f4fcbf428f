package plugins

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/kcpplugin"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
)

// program is a kubectl plugin.
type program struct {
	// called is what people type after "kubectl".
	called string
	build  func(run.Streams) *cobra.Command
}

var programs = []program{
	{called: "ws", build: ws.NewPlugin},
	{called: "kcp", build: kcpplugin.NewPlugin},
	{called: "create workspace", build: ws.NewCreatePlugin},
	{called: "create workspacetype", build: types.NewCreatePlugin},
}

// TestPrograms sees that no plugin is missing here.
func TestPrograms(t *testing.T) {
	folders, err := filepath.Glob("../../cmd/kubectl-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		called := strings.ReplaceAll(strings.TrimPrefix(filepath.Base(folder), "kubectl-"), "-", " ")
		if !slices.ContainsFunc(programs, func(p program) bool { return p.called == called }) {
			t.Errorf("kubectl %s is not in the list of programs", called)
		}
	}
}

// command is something that can be called.
type command struct {
	program program
	// words are what leads to it in its program.
	words []string
	cobra *cobra.Command
}

// line is the command as people type it, without "kubectl".
func (c command) line() string {
	return strings.Join(append([]string{c.program.called}, c.words...), " ")
}

// commands returns everything that can be called, the hidden things as well.
func commands() []command {
	var all []command
	for _, p := range programs {
		var walk func(cmd *cobra.Command, words []string)
		walk = func(cmd *cobra.Command, words []string) {
			if cmd.Runnable() {
				all = append(all, command{program: p, words: slices.Clone(words), cobra: cmd})
			}
			for _, sub := range cmd.Commands() {
				walk(sub, append(words, sub.Name()))
			}
		}
		walk(p.build(run.Streams{}), nil)
	}
	return all
}

// distinct returns the commands that do something of their own: what is below "kubectl kcp
// workspace" is what is below "kubectl ws". What is done elsewhere is left out.
func distinct() []command {
	return slices.DeleteFunc(commands(), func(c command) bool {
		return len(c.words) > 0 && c.words[0] == "workspace" || elsewhere[c.line()] != ""
	})
}

// samples are arguments with which commands succeed in the workspace that newServed
// prepares. NEW is another name each time, WS the path of the workspace.
var samples = map[string]string{
	"ws":                        ".",
	"ws use":                    "child",
	"ws current":                "",
	"ws tree":                   "--wide",
	"ws create":                 "NEW",
	"ws create-context":         "NEW",
	"create workspace":          "NEW",
	"kcp":                       "",
	"kcp bind apiexport":        "WS:widgets --name NEW --wait=false --no-input",
	"kcp claims get apibinding": "--wide",
	"kcp claims accept":         "widgets --all",
	"kcp exports":               "",
	"kcp crd snapshot":          "-f testdata/widgets.yaml --prefix today",
	"kcp crd diff":              "testdata/widgets.yaml testdata/widgets.yaml",
	"kcp crd pull":              "",
	"kcp export init":           "-f testdata/widgets.yaml --name NEW",
	"kcp quickstart":            "--name-prefix NEW --with-samples",
	"ws prompt":                 "",
	"ws ls":                     "--wide",
	"ws history":                "",
	"ws pin":                    "NEW",
	"ws why":                    "child",
	"ws wait":                   "child --for ready",
	"ws kubeconfig":             "child --yes",
	"kcp debug workspace":       "child",
	"kcp debug binding":         "widgets",
	"kcp type show":             "root:universal",
	"kcp type tree":             "-w :root",
	"kcp type can":              "root:universal --under WS",
	"kcp debug initializer":     "",
	"kcp debug terminator":      "",
	"kcp type create":           "NEW",
	"create workspacetype":      "NEW",
}

// elsewhere are commands that do something to the machine they run on, or hand the
// terminal over, with who looks at them instead.
var elsewhere = map[string]string{
	"ws shell":  "starts a shell",
	"ws exec":   "starts programs",
	"ws pick":   "takes the terminal",
	"kcp setup": "makes links beside the program",
}
