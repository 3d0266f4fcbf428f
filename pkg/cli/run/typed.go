package run

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// nameAsTyped calls the commands below root what args call them, for a command may have
// several names: help, usage lines and hints then show what the user typed. The other
// names keep working.
func nameAsTyped(root *cobra.Command, args []string) {
	cmd := root
	for _, arg := range args {
		if arg == "--" {
			return
		}
		i := slices.IndexFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == arg || sub.HasAlias(arg) })
		if i < 0 {
			// A flag, its value, or an argument.
			continue
		}
		cmd = cmd.Commands()[i]
		rename(cmd, arg)
	}
}

// rename makes an alias of cmd its name, and its name an alias.
func rename(cmd *cobra.Command, alias string) {
	name := cmd.Name()
	if name == alias {
		return
	}
	cmd.Use = alias + strings.TrimPrefix(cmd.Use, name)
	cmd.Aliases = append(slices.DeleteFunc(slices.Clone(cmd.Aliases), func(a string) bool { return a == alias }), name)
}
