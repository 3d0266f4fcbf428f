package ask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/forkless/kcp/pkg/cli/run"
)

// screen is a stream with somebody behind it.
type screen struct {
	io.Reader
	io.Writer
}

func (screen) IsTerminal() bool { return true }

func TestSomeone(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	cases := map[string]struct {
		reason  string
		streams run.Streams
		want    bool
	}{
		"Terminal": {reason: "somebody reads and writes", streams: run.Streams{In: screen{}, ErrOut: screen{}}, want: true},
		"Input":    {reason: "the input is a file: nobody answers", streams: run.Streams{In: file, ErrOut: screen{}}},
		"Output":   {reason: "what is said goes to a file: nobody hears the question", streams: run.Streams{In: screen{}, ErrOut: file}},
		"Pipe":     {reason: "what is no file is no terminal", streams: run.Streams{In: strings.NewReader(""), ErrOut: &bytes.Buffer{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, got := Someone(tc.streams); got != tc.want {
				t.Errorf("%s: somebody is there: %v", tc.reason, got)
			}
		})
	}
}

func TestLine(t *testing.T) {
	var errOut bytes.Buffer
	person, _ := Someone(run.Streams{In: screen{Reader: strings.NewReader(" yes \nlast")}, ErrOut: screen{Writer: &errOut}})
	for _, want := range []string{"yes", "last"} {
		if got, err := person.Line(t.Context(), "? "); err != nil || got != want {
			t.Errorf("the answer is %q (%v), want %q", got, err, want)
		}
	}
	if _, err := person.Line(t.Context(), "? "); !errors.Is(err, errSilence) {
		t.Errorf("nothing is left to read, and the error is %v", err)
	}
	if want := "? ? ? \n"; errOut.String() != want {
		t.Errorf("what was said is %q, want %q", errOut.String(), want)
	}
}

// TestInterrupt: who presses ctrl-c does not have to answer first.
func TestInterrupt(t *testing.T) {
	silent, end := io.Pipe()
	t.Cleanup(func() { _ = end.Close() })
	person, _ := Someone(run.Streams{In: screen{Reader: silent}, ErrOut: screen{Writer: io.Discard}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := person.Choice(ctx, "? ", "ab"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
