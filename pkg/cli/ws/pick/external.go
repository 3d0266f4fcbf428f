package pick

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/pick/model"
)

// pickerVariable names a program that lets people pick a line of its input.
const pickerVariable = "KCP_PICKER"

// external is a program that picks, with its arguments.
type external []string

// run gives the program the paths, and returns the one that it prints. A program that
// fails has said why on the terminal; its exit code becomes ours.
func (e external) run(ctx context.Context, streams run.Streams, query string, results <-chan found) (string, error) {
	args := e[1:]
	if query != "" && takesQuery(e[0]) {
		args = append(args[:len(args):len(args)], "--query", query)
		query = ""
	}
	cmd := exec.CommandContext(ctx, e[0], args...) //nolint:gosec // because the user has chosen the program
	var picked bytes.Buffer
	cmd.Stdout, cmd.Stderr = &picked, streams.ErrOut
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", run.Code(run.StartCode(err), fmt.Errorf("%s names a program that does not start: %w", pickerVariable, err))
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		feed(in, query, results)
		// Who has ended has closed it already.
		_ = in.Close()
	}()
	err = cmd.Wait()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", run.Exit(exit.ExitCode())
	}
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(picked.String()), ":"), nil
}

// takesQuery says whether a program is one of those that are known to take what was typed
// already.
func takesQuery(program string) bool {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return name == "fzf" || name == "sk"
}

// feed writes the path of each candidate that fits query, once.
func feed(w io.Writer, query string, results <-chan found) {
	var all model.Candidates
	known := map[string]bool{}
	for f := range results {
		all = model.Candidates{}
		all.Add(f.candidates...)
		for _, m := range all.Match(query) {
			if known[m.Path] {
				continue
			}
			known[m.Path] = true
			if _, err := fmt.Fprintln(w, m.Path); err != nil {
				// The program has what it wants.
				return
			}
		}
		if f.complete {
			return
		}
	}
}
