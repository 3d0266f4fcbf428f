package completion

import (
	"context"
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
	if s := choose(slotsOf(cmd.Use), arguments); s != nil {
		cmd.ValidArgsFunction = c.function(s)
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
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c.function(s))
		}
	})
}

// choose returns a source for all arguments of a usage line, nil if it is of no use for
// any of them.
func choose(slots []slot, arguments map[string]source) source {
	known := false
	for _, at := range slots {
		for _, name := range at.names {
			known = known || arguments[name] != nil
		}
	}
	if !known {
		return nil
	}
	return func(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
		at, ok := slotFor(slots, len(q.args))
		if !ok {
			return nil, words, nil
		}
		var all []cobra.Completion
		directive := words
		for _, name := range at.names {
			if arguments[name] == nil {
				continue
			}
			// One of two that fails leaves the other one.
			found, d, err := arguments[name](ctx, q)
			if err == nil && len(found) > 0 {
				all, directive = append(all, found...), directive|d
			}
		}
		return all, directive, ctx.Err()
	}
}

// function makes of a source what cobra calls.
func (c *completer) function(s source) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
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
