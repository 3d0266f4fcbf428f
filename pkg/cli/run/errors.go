package run

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// maxHints bounds the hints below an error: more are not read.
const maxHints = 2

// ErrNo is what a command returns that has answered a question, and the answer is no.
// Nothing is reported: the answer is the output of the command.
var ErrNo = errors.New("no")

// hinted is an error with advice for the person who gets to see it.
type hinted struct {
	error
	hints []string
}

func (e hinted) Unwrap() error { return e.error }

// Hint returns err with hints: each is a command to try or a fact to know, one line
// without a full stop. Hint returns nil if err is nil.
func Hint(err error, hints ...string) error {
	if err == nil || len(hints) == 0 {
		return err
	}
	return hinted{error: err, hints: hints}
}

// hints returns what was attached to err, outermost first.
func hints(err error) []string {
	var all []string
	for {
		var h hinted
		if !errors.As(err, &h) {
			return all
		}
		all = append(all, h.hints...)
		err = h.error
	}
}

// misuse is an error in how a command was called.
type misuse struct {
	error
	usage string
}

func (e misuse) Unwrap() error { return e.error }

// Misuse returns err together with the usage line of cmd, for a command that was
// called the wrong way.
func Misuse(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return misuse{error: err, usage: cmd.UseLine()}
}

// Args returns check with its error turned into one that shows the usage line.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return Misuse(cmd, check(cmd, args))
	}
}

// suggestionDistance is how near the name of a command has to be to be suggested.
const suggestionDistance = 2

// Commands is the check of a command that only holds others: it takes no word that is none
// of them, and says which one is near.
func Commands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = suggestionDistance
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		err = Hint(err, fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), near[0]))
	}
	return Misuse(cmd, err)
}

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (e coded) Unwrap() error { return e.error }

// Code returns err with the exit code that the process ends with because of it. Code
// returns nil if err is nil.
func Code(code int, err error) error {
	if err == nil {
		return nil
	}
	return coded{error: err, code: code}
}

// CodeOf returns the exit code that the process ends with because of err, signals aside.
func CodeOf(err error) int {
	switch c, ok := errors.AsType[coded](err); {
	case err == nil:
		return 0
	case errors.Is(err, ErrNo):
		return codeNo
	case ok:
		return c.code
	default:
		return codeFailed
	}
}

// Timeout returns err, which says what was still missing when --timeout ran out, with
// the exit code for that.
func Timeout(err error) error { return Code(codeTimeout, err) }

// errExit is the error that is not reported: everything is said already.
var errExit = errors.New("exit")

// Exit returns what a command returns to end the process with code and say nothing, as
// those do that run another program and pass its exit code on. It returns nil for 0.
func Exit(code int) error {
	if code == 0 {
		return nil
	}
	return coded{error: errExit, code: code}
}

// IsExit says whether err is one of Exit: an exit code with nothing to say about it.
func IsExit(err error) bool { return errors.Is(err, errExit) }
