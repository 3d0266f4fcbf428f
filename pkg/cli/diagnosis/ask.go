package diagnosis

import (
	"context"
	"fmt"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
)

// Question is a question put by a command.
type Question struct {
	Streams run.Streams
	Display *display.Flags
	// Output is how to answer: for people, or as a document.
	Output *output.Flags
	// Watch asks again until nothing blocks, and answers whenever something has changed.
	Watch bool
	// Changes tell when it is time to ask again. Only who watches needs them.
	Changes *client.Changes
	// Ask finds the answer.
	Ask func(context.Context) (*Diagnosis, error)
}

// Answer prints what Ask finds, and returns run.ErrNo if something blocks.
func (q Question) Answer(ctx context.Context) error {
	said, err := q.Ask(ctx)
	if err != nil {
		return err
	}
	if err := q.print(said); err != nil {
		return err
	}
	if !q.Watch {
		return said.Err()
	}
	for said.Err() != nil {
		if err := q.Changes.Wait(ctx); err != nil {
			return err
		}
		latest, err := q.Ask(ctx)
		if err != nil {
			return err
		}
		if latest.Same(said) {
			continue
		}
		if !q.Output.Document() {
			_, _ = fmt.Fprintln(q.Streams.Out)
		}
		if err := q.print(latest); err != nil {
			return err
		}
		said = latest
	}
	return nil
}

func (q Question) print(d *Diagnosis) error {
	if q.Output.Document() {
		return q.Output.PrintView(q.Streams.Out, d)
	}
	d.Print(q.Streams.Out, q.Display.For(q.Streams.Out))
	return nil
}
