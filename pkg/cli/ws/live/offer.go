package live

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Offer gives cmd the flag that shows the interactive tree in place of what it does, and
// returns cmd. If it has a flag --workspace, that is where the cursor begins.
func Offer(cmd *cobra.Command, finder *target.Finder) *cobra.Command {
	interactive, file := false, ""
	cmd.Flags().BoolVarP(&interactive, "interactive", "i", false, "Show the tree on the terminal, live, to look around and to work in")
	cmd.Flags().StringVar(&file, "from", "", "With --interactive: show the tree in a file that \"kubectl kcp bundle\" has written")
	otherwise := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !interactive && file != "":
			return run.Misuse(cmd, errors.New("--from goes with --interactive"))
		case !interactive:
			return otherwise(cmd, args)
		}
		if len(args) > 0 {
			return run.Misuse(cmd, errors.New("the interactive tree takes no argument; the cursor begins at the current workspace"))
		}
		if file != "" {
			return RunFile(cmd.Context(), finder, file)
		}
		start, err := startOf(cmd, finder)
		if err != nil {
			return err
		}
		return Run(cmd.Context(), finder, start, shellOf(cmd))
	}
	return cmd
}

// startOf returns the workspace that a flag names, zero if none does.
func startOf(cmd *cobra.Command, finder *target.Finder) (logicalcluster.Path, error) {
	flag := cmd.Flags().Lookup("workspace")
	if flag == nil || flag.Value.String() == "" {
		return logicalcluster.Path{}, nil
	}
	origin, err := finder.Origin()
	if err != nil {
		return logicalcluster.Path{}, err
	}
	return origin.Workspace(cmd.Context(), flag.Value.String())
}

// shellOf returns the command "shell" beside cmd, or below it; nil if there is none.
func shellOf(cmd *cobra.Command) *cobra.Command {
	for _, parent := range []*cobra.Command{cmd, cmd.Parent()} {
		if parent == nil {
			continue
		}
		for _, sub := range parent.Commands() {
			if sub.Name() == "shell" {
				return sub
			}
		}
	}
	return nil
}
