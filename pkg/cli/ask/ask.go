// Package ask puts questions to the person at the terminal. Where there is none it
// asks nothing: a command then needs a flag that answers, and says which.
//
// Questions go to the error stream, for they are no output.
package ask

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
)

// errSilence is what ends a question that nobody answers.
var errSilence = errors.New("no answer: the input has ended")

// Person is who can be asked.
type Person struct {
	in     *bufio.Reader
	errOut io.Writer
}

// Someone returns whom to ask. ok is false if nobody is there: both what is read and
// what is said have to go to a terminal.
func Someone(streams run.Streams) (person *Person, ok bool) {
	if !display.IsTerminal(streams.In) || !display.IsTerminal(streams.ErrOut) {
		return nil, false
	}
	return &Person{in: bufio.NewReader(streams.In), errOut: streams.ErrOut}, true
}

// Line asks for a line and returns it without the spaces around it.
func (p *Person) Line(ctx context.Context, question string) (string, error) {
	_, _ = fmt.Fprint(p.errOut, question)
	type answer struct {
		line string
		err  error
	}
	// A read cannot be interrupted, waiting for it can.
	answers := make(chan answer, 1)
	go func() {
		line, err := p.in.ReadString('\n')
		answers <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(p.errOut)
		return "", context.Canceled
	case a := <-answers:
		if a.err != nil && a.line == "" {
			_, _ = fmt.Fprintln(p.errOut)
			return "", errSilence
		}
		return strings.TrimSpace(a.line), nil
	}
}

// Choice asks until the answer is one of the letters in choices.
func (p *Person) Choice(ctx context.Context, question, choices string) (string, error) {
	for {
		line, err := p.Line(ctx, question)
		if err != nil {
			return "", err
		}
		if len(line) == 1 && strings.Contains(choices, line) {
			return line, nil
		}
		_, _ = fmt.Fprintf(p.errOut, "Please answer with one of %s\n", strings.Join(strings.Split(choices, ""), " "))
	}
}
