package plugin

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/run"
)

// newOptions returns the command that shows the flags which help folds away.
func newOptions(shared *pflag.FlagSet) *cobra.Command {
	return &cobra.Command{
		Use:               "options",
		Short:             "Show the connection and logging flags that every command has",
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "These flags can be used with every command:\n\n%s", shared.FlagUsages())
			return err
		},
	}
}
