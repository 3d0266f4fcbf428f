// Package confirm asks before something is destroyed. The person at the terminal types
// the name of what will go; a script says --yes. What is protected needs its name in the
// flag as well, so that no --yes that was meant for something else destroys it.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/run"
)

// ProtectedAnnotation protects an object. Its value says why.
const ProtectedAnnotation = "cli.kcp.io/protected"

// anything is the value of --yes without one. It cannot be a name.
const anything = "*"

// errOtherName is what another answer than the name leads to.
var errOtherName = errors.New("that is not the name, so nothing was deleted")

// Flags are the answers that are given beforehand. The zero value answers nothing.
type Flags struct {
	// Yes is the value of --yes: empty if the flag is not there, otherwise the names that
	// may go, separated by commas, or "*" for whatever it is about.
	Yes string
}

// AddFlags adds the flags to flags.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Yes, "yes", f.Yes, "Delete without asking; --yes=`NAME` also what is protected")
	flags.Lookup("yes").NoOptDefVal = anything
}

// Given says whether the question is answered already, so that nobody has to find out
// what there is to show.
func (f *Flags) Given() bool { return f.Yes != "" && f.Yes != "false" }

// Confirm returns nil if name may go. protectedReason is the reason for which it is
// protected, "" if it is not; preview shows what goes with it.
func (f *Flags) Confirm(ctx context.Context, streams run.Streams, name, protectedReason, preview string) error {
	named := slices.Contains(strings.Split(f.Yes, ","), name)
	blank := f.Yes == anything || f.Yes == "true"
	switch {
	case named:
		return nil
	case protectedReason != "":
		return run.Hint(fmt.Errorf("%s is protected: %s", name, protectedReason), fmt.Sprintf("--yes=%s deletes it all the same", name))
	case blank:
		return nil
	case f.Given():
		return fmt.Errorf("--yes=%s does not name %s, so nothing was deleted", f.Yes, name)
	}
	person, ok := ask.Someone(streams)
	if !ok {
		return run.Hint(fmt.Errorf("deleting %s has to be confirmed, and there is nobody to ask", name), "--yes deletes without asking")
	}
	if preview != "" {
		_, _ = fmt.Fprintln(streams.ErrOut, strings.TrimRight(preview, "\n"))
	}
	answer, err := person.Line(ctx, fmt.Sprintf("Type %s to delete all of this: ", name))
	if err != nil {
		return err
	}
	if answer != name {
		return errOtherName
	}
	return nil
}
