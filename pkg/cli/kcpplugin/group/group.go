// Package group makes commands that do nothing themselves but hold others. Called alone
// they show their help, called with a word they do not know they say so: a script with
// a typing error should not go on as if something had been done.
package group

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// New returns a command that holds others.
func New(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name + " COMMAND",
		Short:             short,
		Args:              check,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	// How near a word has to be to be suggested.
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(commands...)
	return cmd
}

// check finds a word that is none of the commands.
func check(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	for i, near := range cmd.SuggestionsFor(args[0]) {
		if i == 0 {
			err = run.Hint(err, fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), near))
		}
	}
	return run.Misuse(cmd, err)
}
