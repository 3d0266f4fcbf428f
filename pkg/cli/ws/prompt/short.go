package prompt

import (
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const separator = ":"

// Short returns the path in the form in which it is short enough for a prompt: what is at
// home begins with "~", and "root" is left out where something follows it. It has at most
// limit cells, 0 for as many as it needs: whatever is in front goes first, for the last
// names tell most.
func Short(d display.Display, p, home logicalcluster.Path, limit int) string {
	short := shorten(p, home)
	if limit <= 0 || display.Cells(short) <= limit {
		return short
	}
	for rest := short; ; {
		_, after, found := strings.Cut(rest, separator)
		if !found {
			break
		}
		rest = after
		if candidate := d.Glyphs().Ellipsis + separator + rest; display.Cells(candidate) <= limit {
			return candidate
		}
	}
	return d.Cut(p.Base(), limit)
}

func shorten(p, home logicalcluster.Path) string {
	if !home.Empty() {
		if p == home {
			return "~"
		}
		if below, ok := strings.CutPrefix(p.String(), home.String()+separator); ok {
			return "~" + separator + below
		}
	}
	if below, ok := strings.CutPrefix(p.String(), logicalcluster.Root.String()+separator); ok {
		return below
	}
	return p.String()
}
