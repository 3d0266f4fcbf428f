package pick

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/forkless/kcp/pkg/cli/ask"
	"github.com/forkless/kcp/pkg/cli/ws/pick/model"
)

// numbered is how many candidates a list has that is read aloud.
const numbered = 10

// runList is the picker for those to whom nothing may move: a numbered list, and a
// question. The empty answer leaves.
func runList(ctx context.Context, person *ask.Person, w io.Writer, candidates *model.Candidates, query string) (string, error) {
	for {
		matches := candidates.Match(query)
		if err := list(w, matches, candidates.Len()); err != nil {
			return "", err
		}
		answer, err := person.Line(ctx, "Number of the workspace, other text to look for, or nothing to leave: ")
		if err != nil || answer == "" {
			return "", err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= min(len(matches), numbered) {
			return matches[n-1].Path, nil
		}
		query = answer
	}
}

func list(w io.Writer, matches []model.Match, total int) error {
	var b strings.Builder
	for i, m := range matches[:min(len(matches), numbered)] {
		fmt.Fprintf(&b, "%2d %s", i+1, m.Path)
		for _, fact := range []string{m.Type, m.Stage} {
			if fact != "" {
				b.WriteString(", " + fact)
			}
		}
		if m.Pin != "" {
			b.WriteString(", pinned as " + m.Pin)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d of %d workspaces\n", len(matches), total)
	_, err := io.WriteString(w, b.String())
	return err
}
