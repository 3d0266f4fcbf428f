package completion

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/ws/target"
)

const (
	// patience is how long candidates are waited for. What starting the program takes
	// comes on top.
	patience = 300 * time.Millisecond

	// words are candidates after which a space follows, path those after which typing
	// goes on.
	words = cobra.ShellCompDirectiveNoFileComp
	path  = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
)

// question is a place on a command line that candidates are asked for.
type question struct {
	cmd *cobra.Command
	// args are the words before it that are no flags, typed what it begins with.
	args  []string
	typed string
}

// flag returns the value of another flag of the same command line, "" without one.
func (q question) flag(name string) string {
	if f := q.cmd.Flag(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// source finds candidates.
type source func(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error)

// Attach makes the commands below root, and root itself, complete what their usage lines
// say that they take, and adds the command that prints scripts for shells. Flags come
// from finder. It is called when the commands are all there.
func Attach(root *cobra.Command, finder *target.Finder) {
	c := &completer{finder: finder, cache: newCache(), patience: patience}
	if root.HasSubCommands() {
		root.AddCommand(newScript(root.CommandPath()))
	}
	c.attach(root, c.arguments(), c.flags())
}

func (c *completer) attach(cmd *cobra.Command, arguments map[string]source, flags map[string]source) {
	if placeholders := placeholdersOf(cmd.Use); len(placeholders) > 0 {
		if s, ok := arguments[placeholders[0]]; ok {
			cmd.ValidArgsFunction = c.function(s, limitOf(cmd.Use, placeholders))
		}
	}
	c.attachFlags(cmd, cmd.Flags(), flags)
	c.attachFlags(cmd, cmd.PersistentFlags(), flags)
	for _, sub := range cmd.Commands() {
		c.attach(sub, arguments, flags)
	}
}

func (c *completer) attachFlags(cmd *cobra.Command, set *pflag.FlagSet, flags map[string]source) {
	set.VisitAll(func(f *pflag.Flag) {
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); ok {
			return
		}
		if s, ok := flags[f.Name]; ok && f.Value.Type() != "bool" {
			// The flag exists, which is all that could go wrong.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c.function(s, unlimited))
		}
	})
}

// unlimited is the number of words in which a place may be repeated.
const unlimited = -1

// function makes of a source what cobra calls. It answers for the first limit arguments.
func (c *completer) function(s source, limit int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if limit != unlimited && len(args) >= limit {
			return nil, words
		}
		return c.ask(cmd.Context(), s, question{cmd: cmd, args: args, typed: typed})
	}
}

// ask asks a source and gives up when patience is over, whatever the source is waiting
// for: programs that get credentials know nothing of contexts.
func (c *completer) ask(ctx context.Context, s source, q question) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	c.finder.Flags.Unattended = true

	type answer struct {
		candidates []cobra.Completion
		directive  cobra.ShellCompDirective
	}
	answers := make(chan answer, 1)
	go func() {
		candidates, directive, err := s(ctx, q)
		if err != nil {
			candidates, directive = nil, words
		}
		answers <- answer{candidates, directive}
	}()
	select {
	case a := <-answers:
		return a.candidates, a.directive
	case <-ctx.Done():
		return nil, words
	}
}

// placeholdersOf returns what stands for arguments in a usage line, without brackets and
// dots: PATH and NAME of "copy PATH [NAME...]".
func placeholdersOf(use string) []string {
	var placeholders []string
	for _, word := range strings.Fields(use)[1:] {
		word = strings.Trim(word, "[]<>.")
		if word != "" && word == strings.ToUpper(word) && !strings.HasPrefix(word, "-") {
			placeholders = append(placeholders, word)
		}
	}
	return placeholders
}

// limitOf returns how many arguments the first placeholder of a usage line stands for.
func limitOf(use string, placeholders []string) int {
	if strings.Contains(use, placeholders[0]+"...") || strings.Contains(use, placeholders[0]+"]...") {
		return unlimited
	}
	return 1
}
