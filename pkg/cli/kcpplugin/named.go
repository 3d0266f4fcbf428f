package kcpplugin

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
)

// Others are the plugins that the program kubectl-kcp is, too, when it is called by their
// names, by the words behind "kubectl".
func Others() map[string]func(run.Streams) *cobra.Command {
	return map[string]func(run.Streams) *cobra.Command{
		"ws":                   ws.NewPlugin,
		"create-workspace":     ws.NewCreatePlugin,
		"create-workspacetype": types.NewCreatePlugin,
	}
}

// pluginNames are all plugins that the program is, in order.
func pluginNames() []string {
	names := slices.AppendSeq([]string{"kcp"}, maps.Keys(Others()))
	slices.Sort(names)
	return names
}

// Named returns what makes the command of a program that is called program: a path, of
// kubectl-kcp or of a link to it.
func Named(program string) func(run.Streams) *cobra.Command {
	if build, ok := Others()[completion.Name(program)]; ok {
		return build
	}
	return NewPlugin
}
