package display

// Role is why a piece of text stands out.
type Role int

// The roles. Each has a word of its own in the text, too: colors only repeat it.
const (
	// Plain text stands out in no way.
	Plain Role = iota
	// OK is what is as it should be.
	OK
	// Waiting is what is on its way.
	Waiting
	// Failed is what is broken.
	Failed
	// Warning is what works, but may surprise.
	Warning
	// Unknown is what could not be found out.
	Unknown
	// Faint is what matters least.
	Faint
	// Strong is what matters most.
	Strong
	// Current is where the user is.
	Current
)

// parameters are what selects the colors of a role (SGR).
var parameters = map[Role]string{
	OK:      "32",
	Waiting: "36",
	Failed:  "31",
	Warning: "33",
	Unknown: "35",
	Faint:   "2",
	Strong:  "1",
	Current: "1;33",
}

// Style returns s in the colors of r, or s itself where there is no color.
func (d Display) Style(r Role, s string) string {
	selected := parameters[r]
	if !d.Color || selected == "" || s == "" {
		return s
	}
	return "\x1b[" + selected + "m" + s + "\x1b[0m"
}
