package start

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

const hintOptions = "Use \"kcp start options\" for all flags.\n"

// newOptionsCommand returns "kcp start options", which lists all flags by groups.
func newOptionsCommand(streams run.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "List all flags of kcp start",
		Args:  run.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			groups := options.NewOptions().Flags()
			(&Options{}).addFlags(groups.FlagSet("process"))
			cliflag.PrintSections(streams.Out, groups, width(streams.Out))
			return nil
		},
	}
}

// showOnly hides all flags but those named from help.
func showOnly(flags *pflag.FlagSet, shown []string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = flag.Hidden || !slices.Contains(shown, flag.Name)
	})
}

// isTerminal says whether people watch w.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// width returns the columns of a terminal, 0 for anything else: off a terminal nothing
// is wrapped.
func width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
