package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestNamesAsTyped(t *testing.T) {
	build := func(streams Streams) *cobra.Command {
		nothing := func(*cobra.Command, []string) error { return nil }
		root := &cobra.Command{Use: "kcp"}
		root.PersistentFlags().String("context", "", "")
		ws := &cobra.Command{Use: "workspace [PATH]", Aliases: []string{"ws", "workspaces"}, RunE: nothing}
		ws.AddCommand(&cobra.Command{Use: "use PATH", Aliases: []string{"cd"}, Args: Args(cobra.ExactArgs(1)), RunE: nothing})
		root.AddCommand(ws)
		return root
	}
	for line, want := range map[string]string{
		"ws cd":                "usage: kcp ws cd PATH [flags]\n",
		"workspace use":        "usage: kcp workspace use PATH [flags]\n",
		"--context=a ws use":   "usage: kcp ws use PATH [flags]\n",
		"workspaces cd a b":    "usage: kcp workspaces cd PATH [flags]\n",
		"ws cd workspace ws":   "usage: kcp ws cd PATH [flags]\n",
		"ws -- cd use use use": "",
	} {
		var errOut bytes.Buffer
		Execute(t.Context(), Streams{Out: &bytes.Buffer{}, ErrOut: &errOut}, build, strings.Fields(line))
		if !strings.HasSuffix(errOut.String(), want) || want == "" && errOut.Len() > 0 {
			t.Errorf("$ %s\n%swant %s", line, errOut.String(), want)
		}
	}
}
