// Package pick is the command "kubectl ws pick": going to a workspace of which one knows
// only a part of the name.
//
// On a terminal it is a picker below the prompt: workspaces come in while one types, those
// that the user has pinned or been in first. What it decides is in the package model;
// this one finds workspaces, and connects the two with the terminal. Elsewhere it prints
// what fits, the best first, and never switches.
package pick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/pick/model"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// codeLeft is the exit code of those who leave without a workspace.
const codeLeft = 130

// Tree opens the interactive tree at a workspace.
type Tree func(ctx context.Context, at logicalcluster.Path) error

// Options are what the command is called with.
type Options struct {
	// Query is what to look for, "" for everything.
	Query string
	// Print prints the path instead of going there.
	Print bool
	// Filter prints everything that fits.
	Filter bool

	finder *target.Finder
	tree   Tree
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Print, "print", o.Print, "Print the path of the workspace instead of going there")
	flags.BoolVar(&o.Filter, "filter", o.Filter, "Print the paths of all that fit, the best first; the default where there is no terminal")
}

// Run lets the user pick.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	searching, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	results := search(searching, origin)
	if o.Filter || !o.interactive() {
		return o.filter(searching, results)
	}
	answer, picked, err := o.pick(searching, results)
	if err != nil {
		return err
	}
	if picked == "" || answer == model.Leave {
		return run.Exit(codeLeft)
	}
	// What is found from now on is of no use.
	stop(nil)
	return o.act(ctx, origin, answer, picked)
}

// interactive says whether somebody can pick. The picker is drawn on the error stream, so
// that the output may go elsewhere if it is to be printed.
func (o *Options) interactive() bool {
	s := o.finder.Streams
	return display.IsTerminal(s.In) && display.IsTerminal(s.ErrOut) && (o.Print || display.IsTerminal(s.Out))
}

// pick returns the answer, and the path of what was picked.
func (o *Options) pick(ctx context.Context, results <-chan found) (model.Answer, string, error) {
	s := o.finder.Streams
	if program := strings.Fields(os.Getenv(pickerVariable)); len(program) > 0 {
		picked, err := external(program).run(ctx, s, o.Query, results)
		return model.Pick, picked, err
	}
	d := o.finder.Display.For(s.ErrOut)
	person, ok := ask.Someone(s)
	if ok && !d.Redraw {
		candidates, err := gather(ctx, results)
		if err != nil {
			return model.None, "", err
		}
		if matches := candidates.Match(o.Query); o.Query != "" && len(matches) == 1 {
			return model.Pick, matches[0].Path, nil
		}
		picked, err := runList(ctx, person, s.ErrOut, candidates, o.Query)
		return model.Pick, picked, err
	}
	m := model.New(model.Options{Query: o.Query, Print: o.Print, Tree: o.tree != nil && !o.Print})
	answer, err := runInline(ctx, s.In, s.ErrOut, d, m, results)
	picked, _ := m.Picked()
	return answer, picked.Path, err
}

// gather returns all candidates. What the kubeconfig knows is there even if the server
// cannot be asked.
func gather(ctx context.Context, results <-chan found) (*model.Candidates, error) {
	candidates := &model.Candidates{}
	trouble := ""
	for f := range results {
		candidates.Add(f.candidates...)
		trouble = f.trouble
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if candidates.Len() == 0 && trouble != "" {
		return nil, errors.New(trouble)
	}
	return candidates, nil
}

// filter prints the paths of what fits, as commands take them.
func (o *Options) filter(ctx context.Context, results <-chan found) error {
	candidates, err := gather(ctx, results)
	if err != nil {
		return err
	}
	matches := candidates.Match(o.Query)
	if len(matches) == 0 {
		return fmt.Errorf("no workspace fits %q", o.Query)
	}
	var b strings.Builder
	for _, m := range matches {
		b.WriteString(":" + m.Path + "\n")
	}
	_, err = io.WriteString(o.finder.Streams.Out, b.String())
	return err
}

// act does what was answered.
func (o *Options) act(ctx context.Context, origin *target.Origin, answer model.Answer, picked string) error {
	p, err := logicalcluster.ParsePath(picked)
	if err != nil {
		return fmt.Errorf("what was picked: %w", err)
	}
	switch {
	case answer == model.Tree:
		return o.tree(ctx, p)
	case o.Print:
		_, err := fmt.Fprintf(o.finder.Streams.Out, ":%s\n", p)
		return err
	}
	ref, err := path.Parse(":"+p.String(), "")
	if err != nil {
		return err
	}
	return switching.Switcher{Finder: o.finder}.Go(ctx, origin, ref)
}

// New returns the command. tree opens the interactive tree; nil says that there is none.
func New(finder *target.Finder, tree Tree) *cobra.Command {
	o := &Options{finder: finder, tree: tree}
	cmd := &cobra.Command{
		Use:   "pick [QUERY]",
		Short: "Pick a workspace by a part of its name",
		Long: `Pick a workspace by a part of its name, and go there. What is typed fits a path that has
its characters in the same order; the starts of names count most. Pins and the history
come first, then all workspaces that can be found, at most 5000. @ looks for pins. If
exactly one workspace fits QUERY, that is the one.

Keys: enter goes there, up and down select, tab completes, ctrl+t opens the tree there,
ctrl+w and ctrl+u take back what was typed, esc leaves.

The environment variable KCP_PICKER names a program, such as fzf, that is used instead:
it reads paths, one per line, and prints one. Where there is no terminal, the paths that
fit are printed, the best first, and nothing is switched.

Exit codes: 0 done, 1 any error, or nothing fits where it is printed, 130 nothing was
picked; that of KCP_PICKER if it fails.`,
		Example: `  kubectl ws pick
  kubectl ws pick pay
  kubectl ws tree "$(kubectl ws pick --print)"
  kubectl ws pick --filter team | head`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Query = args[0]
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
