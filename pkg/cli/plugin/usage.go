package plugin

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// setUsage gives root and everything below it a help text with the examples first and
// the flags of its own. The shared flags come last or, if they are folded, not at all.
func setUsage(root *cobra.Command, shared *pflag.FlagSet, folded bool) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		var sections []string
		if cmd.HasExample() {
			sections = append(sections, "Examples:\n"+cmd.Example+"\n")
		}
		if commands := commandList(cmd); commands != "" {
			sections = append(sections, "Commands:\n"+commands)
		}
		if own := ownFlags(cmd, shared); own.HasAvailableFlags() {
			sections = append(sections, "Flags:\n"+own.FlagUsages())
		}
		sections = append(sections, "Usage:\n  "+cmd.UseLine()+"\n")
		if folded {
			sections = append(sections, fmt.Sprintf("\"%s options\" shows the connection and logging flags.\n", root.CommandPath()))
		} else {
			sections = append(sections, "Connection and logging flags:\n"+shared.FlagUsages())
		}
		_, err := io.WriteString(cmd.OutOrStderr(), strings.Join(sections, "\n"))
		return err
	})
}

// ownFlags returns the flags of cmd without the shared ones.
func ownFlags(cmd *cobra.Command, shared *pflag.FlagSet) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if shared.Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	return own
}

// commandList returns a line for each command below cmd.
func commandList(cmd *cobra.Command) string {
	var list strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			// The padding may be just the longest name.
			fmt.Fprintf(&list, "  %-*s %s\n", sub.NamePadding()+1, sub.Name(), sub.Short)
		}
	}
	return list.String()
}
