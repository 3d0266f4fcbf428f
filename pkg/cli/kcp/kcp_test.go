package kcp

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

func TestUnknownCommand(t *testing.T) {
	var out, errOut bytes.Buffer
	build := func(streams run.Streams) *cobra.Command { return New(streams, nil) }
	code := run.Execute(t.Context(), run.Streams{Out: &out, ErrOut: &errOut}, build, []string{"stat"})
	want := "error: unknown command \"stat\" for \"kcp\"\nusage: kcp [flags]\nhint: did you mean kcp start?\n"
	if code != 1 || out.Len() > 0 || errOut.String() != want {
		t.Errorf("code %d, output %q, errors %q; want %q", code, out.String(), errOut.String(), want)
	}
}
