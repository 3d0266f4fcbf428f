package display

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Flags say how to show things. The zero value, and nil, stand for no flags.
type Flags struct {
	// Color is auto, always or never; empty is auto.
	Color string
	// ASCII uses no other characters to draw with.
	ASCII bool
	// Accessible redraws nothing: lines instead of spinners, lists instead of pickers.
	Accessible bool
	// Quiet leaves out what is said about the progress of a command.
	Quiet bool
}

// AddFlags adds the flags to flags.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	if f.Color == "" {
		f.Color = colorAuto
	}
	flags.Var(&choice{value: &f.Color, of: []string{colorAuto, colorAlways, colorNever}}, "color", "When to use color: auto, always or never")
	flags.BoolVar(&f.ASCII, "ascii", f.ASCII, "Draw with ASCII characters only")
	flags.BoolVar(&f.Accessible, "accessible", f.Accessible, "Redraw nothing: lines instead of spinners, numbered lists instead of pickers")
	flags.BoolVarP(&f.Quiet, "quiet", "q", f.Quiet, "Say nothing about progress")
}

// Display is what can be shown at the other end of a stream.
type Display struct {
	// Terminal says that somebody may look at it.
	Terminal bool
	// Width is how many cells fit into a line; 0 says that nothing is cut.
	Width int
	// Color says that escape sequences for colors are wanted.
	Color bool
	// Redraw says that a line can be written again in place.
	Redraw bool
	// ASCII says that other characters do not arrive.
	ASCII bool
	// Accessible says that whoever looks has it read aloud: nothing moves.
	Accessible bool
}

// For returns what can be shown where w leads.
func (f *Flags) For(w io.Writer) Display {
	if f == nil {
		f = &Flags{}
	}
	d := Display{
		Terminal:   IsTerminal(w),
		ASCII:      f.ASCII || !isUTF8(locale()),
		Accessible: f.Accessible || isSet("ACCESSIBLE"),
	}
	escapes := d.Terminal && os.Getenv("TERM") != "dumb" && takesEscapes(w)
	d.Color = f.wantsColor(escapes)
	d.Redraw = escapes && !d.Accessible
	if d.Terminal {
		d.Width = width(w)
	}
	return d
}

// wantsColor decides about color: the flag, then NO_COLOR, then CLICOLOR_FORCE, then
// what the stream can do.
func (f *Flags) wantsColor(escapes bool) bool {
	switch {
	case f.Color == colorAlways:
		return true
	case f.Color == colorNever, os.Getenv("NO_COLOR") != "":
		return false
	case isSet("CLICOLOR_FORCE"):
		return true
	default:
		return escapes
	}
}

// isSet says whether a variable is on, by the habit that 0 is as good as nothing.
func isSet(name string) bool {
	value := os.Getenv(name)
	return value != "" && value != "0"
}

// locale returns the locale of characters, "" if the environment says nothing.
func locale() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// isUTF8 says whether a locale can show all characters. Where there is none, in a
// container or a CI job, there is no terminal with another encoding either.
func isUTF8(locale string) bool {
	l := strings.ToLower(locale)
	return l == "" || strings.Contains(l, "utf-8") || strings.Contains(l, "utf8")
}

// width returns how many cells fit into a line of the terminal w, 0 if that is not known.
func width(w io.Writer) int {
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return terminalWidth(w)
}
