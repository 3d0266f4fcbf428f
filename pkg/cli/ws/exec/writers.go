package exec

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/forkless/kcp/pkg/cli/display"
)

// longestLine is how much of a line is kept until its end comes.
const longestLine = 64 << 10

// prefixer writes whole lines with a prefix. Several may write to the same place.
type prefixer struct {
	w      io.Writer
	mu     *sync.Mutex
	prefix string
	line   bytes.Buffer
}

// Write keeps what is no whole line yet.
func (p *prefixer) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		p.line.Write(line)
		rest = after
		if !whole && p.line.Len() < longestLine {
			break
		}
		if err := p.flush(); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// Close writes the line that has no end.
func (p *prefixer) Close() error {
	if p.line.Len() == 0 {
		return nil
	}
	return p.flush()
}

func (p *prefixer) flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := p.prefix + p.line.String() + "\n"
	p.line.Reset()
	_, err := io.WriteString(p.w, line)
	return err
}

// synchronized lets several write to the same place.
type synchronized struct {
	w  io.Writer
	mu *sync.Mutex
}

func (s synchronized) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(data)
}

// headerCells is how wide a header is where there is room for it.
const headerCells = 52

// header returns the line above the output of a workspace.
func header(d display.Display, path string) string {
	cells := headerCells
	if d.Width > 0 {
		cells = min(cells, d.Width)
	}
	rule := d.Glyphs().Rule
	if room := cells - 6; display.Cells(path) > room {
		path = d.Cut(path, max(room, 1))
	}
	line := rule + rule + " " + path + " "
	return d.Style(display.Strong, line+strings.Repeat(rule, max(cells-display.Cells(line), 0)))
}
