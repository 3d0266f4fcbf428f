package completion

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// prefix begins the names under which kubectl looks for the program that completes the
// arguments of a plugin, with "_" read as "-": "kubectl_complete-ws".
const prefix = "kubectl-complete-"

// Plugin returns the words of the plugin that completes under the name that a program was
// called by: "kubectl_complete-create_workspace" completes "create-workspace". ok says
// whether it is such a name.
func Plugin(program string) (name string, ok bool) {
	return strings.CutPrefix(called(program), prefix)
}

// Name returns the words of the plugin that a program was called as, whether to run or
// to complete: "ws" of kubectl-ws and of kubectl_complete-ws.
func Name(program string) string {
	if name, ok := Plugin(program); ok {
		return name
	}
	return strings.TrimPrefix(called(program), "kubectl-")
}

// called returns the name of a program with all that systems and krew put into it taken
// out again.
func called(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return strings.ReplaceAll(name, "_", "-")
}

// Execute runs the command that build makes, as run.Execute does. args begins with the
// name of the program, which decides what is asked for: the command or its candidates.
func Execute(ctx context.Context, streams run.Streams, build func(run.Streams) *cobra.Command, args []string) int {
	program, args := args[0], args[1:]
	if _, ok := Plugin(program); ok {
		if len(args) == 0 {
			// kubectl always has a last word, if only an empty one.
			args = []string{""}
		}
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	if !asked(args) {
		return run.Execute(ctx, streams, build, args)
	}
	// Programs that get credentials write to the error stream of the process.
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	streams.In, streams.ErrOut = strings.NewReader(""), io.Discard
	run.Execute(ctx, streams, build, args)
	return 0
}

// asked says whether the command line is a shell's question for candidates.
func asked(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}
