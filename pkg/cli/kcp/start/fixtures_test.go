package start

import (
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// testdata is absolute, because tests change the working directory.
var testdata = func() string {
	path, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return path
}()

func newTestCommand(streams run.Streams) *cobra.Command {
	parent := &cobra.Command{Use: "kcp"}
	parent.AddCommand(New(streams, nil))
	return parent
}

var (
	ports   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	headers = regexp.MustCompile(`(?m)^([IWEF])\d{4} [\d:.]+ +\d+ (\w+\.go):\d+\]`)
)

// stable takes out what differs between runs.
func stable(text string) string {
	text = ports.ReplaceAllString(text, "127.0.0.1:PORT")
	return headers.ReplaceAllString(text, "$1 HEADER $2]")
}
