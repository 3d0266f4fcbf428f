// Package group makes commands that do nothing themselves but hold others. Called alone
// they show their help, called with a word they do not know they say so: a script with
// a typing error should not go on as if something had been done.
package group

import (
	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// New returns a command that holds others.
func New(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name + " COMMAND",
		Short:             short,
		Args:              run.Commands,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}
