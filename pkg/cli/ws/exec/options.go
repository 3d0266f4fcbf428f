package exec

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// parallel is how many programs run at a time.
const parallel = 4

// Options are what the command is called with.
type Options struct {
	// Paths name the workspaces; none stands for the current one.
	Paths []string
	// Command is the program and its arguments.
	Command []string
	// Recursive runs it in all workspaces below those instead.
	Recursive bool
	// Parallel is how many run at a time, if there are several.
	Parallel int
	// Raw lets programs write as they like.
	Raw bool
	// FailFast starts no more when one has failed; KeepGoing is the opposite.
	FailFast, KeepGoing bool

	finder *target.Finder
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{Parallel: parallel, finder: finder}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.Recursive, "recursive", "R", o.Recursive, "Run it in each workspace below those at PATH")
	flags.IntVar(&o.Parallel, "parallel", o.Parallel, "How many run at a time")
	flags.BoolVar(&o.Raw, "raw", o.Raw, "Neither headers nor prefixes")
	flags.BoolVar(&o.FailFast, "fail-fast", o.FailFast, "Start no more when one has failed")
	flags.BoolVar(&o.KeepGoing, "keep-going", o.KeepGoing, "Run it everywhere, whatever fails (default)")
}

// Complete takes the arguments apart. dash is how many stand before "--", less than 0 if
// there is none.
func (o *Options) Complete(args []string, dash int) error {
	switch {
	case dash < 0:
		return errors.New(`the command to run comes behind "--"`)
	case dash == len(args):
		return errors.New(`there is no command behind "--"`)
	case o.Parallel < 1:
		return fmt.Errorf("--parallel %d is less than one", o.Parallel)
	case o.FailFast && o.KeepGoing:
		return errors.New("--fail-fast and --keep-going are opposites")
	}
	o.Paths, o.Command = args[:dash], args[dash:]
	if len(o.Paths) == 0 {
		o.Paths = []string{""}
	}
	return nil
}
