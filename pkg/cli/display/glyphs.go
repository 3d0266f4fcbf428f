package display

// Glyphs are what is drawn with.
type Glyphs struct {
	// Child, LastChild, Through and None are the strokes of a tree, four cells each: to a
	// node, to the last one of its siblings, past a node, and past nothing.
	Child, LastChild, Through, None string
	// Arrow leads from one thing to another.
	Arrow string
	// Ellipsis stands for what was cut.
	Ellipsis string
	// Rule is one cell of a horizontal line.
	Rule string
	// Cursor marks the line that a key acts on.
	Cursor string
	// Open and Closed mark a branch whose children are shown, or hidden.
	Open, Closed string
	// Denied marks what may not be looked into.
	Denied string
	// Here marks where one is, and what is alive; Away what is not reached.
	Here, Away string
	// Spinner are the frames of what turns while one waits.
	Spinner []string
}

var (
	unicodeGlyphs = Glyphs{
		Child: "├── ", LastChild: "└── ", Through: "│   ", None: "    ",
		Arrow: "→", Ellipsis: "…", Rule: "─", Cursor: "❯", Open: "▾", Closed: "▸", Denied: "⊘", Here: "●", Away: "○",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	}
	asciiGlyphs = Glyphs{
		Child: "|-- ", LastChild: "`-- ", Through: "|   ", None: "    ",
		Arrow: "->", Ellipsis: "...", Rule: "-", Cursor: ">", Open: "v", Closed: ">", Denied: "x", Here: "*", Away: "o",
		Spinner: []string{"|", "/", "-", `\`},
	}
)

// Glyphs returns what to draw with. Callers do not change it.
func (d Display) Glyphs() Glyphs {
	if d.ASCII {
		return asciiGlyphs
	}
	return unicodeGlyphs
}
