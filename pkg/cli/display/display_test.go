package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// screen is a stream at the other end of which somebody sits.
type screen struct{ bytes.Buffer }

func (*screen) IsTerminal() bool { return true }

// clean removes what the environment of the test says about displays.
func clean(t *testing.T) {
	t.Helper()
	for _, name := range []string{"NO_COLOR", "CLICOLOR_FORCE", "ACCESSIBLE", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
}

func TestFor(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    map[string]string
		flags  *Flags
		pipe   bool
		want   Display
	}{
		"Terminal":      {reason: "a terminal has it all", want: Display{Terminal: true, Color: true, Redraw: true}},
		"Pipe":          {reason: "nobody looks at a pipe", pipe: true, want: Display{}},
		"PipeWide":      {reason: "off a terminal nothing is cut, whatever COLUMNS says", pipe: true, env: map[string]string{"COLUMNS": "20"}, want: Display{}},
		"Columns":       {reason: "COLUMNS says how wide it is", env: map[string]string{"COLUMNS": "40"}, want: Display{Terminal: true, Width: 40, Color: true, Redraw: true}},
		"BadColumns":    {reason: "COLUMNS may be nonsense", env: map[string]string{"COLUMNS": "-3"}, want: Display{Terminal: true, Color: true, Redraw: true}},
		"Dumb":          {reason: "a dumb terminal prints escape sequences", env: map[string]string{"TERM": "dumb"}, want: Display{Terminal: true}},
		"NoColor":       {reason: "NO_COLOR is about color alone", env: map[string]string{"NO_COLOR": "1"}, want: Display{Terminal: true, Redraw: true}},
		"NoColorForced": {reason: "NO_COLOR counts more than CLICOLOR_FORCE", env: map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, want: Display{Terminal: true, Redraw: true}},
		"Forced":        {reason: "color in a pipe for those who ask for it", pipe: true, env: map[string]string{"CLICOLOR_FORCE": "1"}, want: Display{Color: true}},
		"ForcedOff":     {reason: "0 is no", pipe: true, env: map[string]string{"CLICOLOR_FORCE": "0"}, want: Display{}},
		"Always":        {reason: "the flag counts most", pipe: true, flags: &Flags{Color: "always"}, env: map[string]string{"NO_COLOR": "1"}, want: Display{Color: true}},
		"Never":         {reason: "the flag counts most", flags: &Flags{Color: "never"}, env: map[string]string{"CLICOLOR_FORCE": "1"}, want: Display{Terminal: true, Redraw: true}},
		"Accessible":    {reason: "nothing moves for a screen reader", env: map[string]string{"ACCESSIBLE": "1"}, want: Display{Terminal: true, Color: true, Accessible: true}},
		"CLocale":       {reason: "other characters do not arrive", pipe: true, env: map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, want: Display{ASCII: true}},
		"UTF8":          {reason: "the name of the locale says that they do", pipe: true, env: map[string]string{"LANG": "C.utf8"}, want: Display{}},
		"ASCII":         {reason: "somebody may not want them", pipe: true, flags: &Flags{ASCII: true}, want: Display{ASCII: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			for key, value := range tc.env {
				t.Setenv(key, value)
			}
			var got Display
			if tc.pipe {
				got = tc.flags.For(&bytes.Buffer{})
			} else {
				got = tc.flags.For(&screen{})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestColorFlag(t *testing.T) {
	flags := &Flags{}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.AddFlags(set)
	if err := set.Parse([]string{"--color", "never"}); err != nil || flags.Color != "never" {
		t.Errorf("--color never has become %q, %v", flags.Color, err)
	}
	if err := set.Parse([]string{"--color=sometimes"}); err == nil || !strings.Contains(err.Error(), "auto, always, never") {
		t.Errorf("a color that does not exist is refused with those that do, not %v", err)
	}
}

func TestCut(t *testing.T) {
	cases := map[string]struct {
		reason string
		s      string
		cells  int
		ascii  bool
		want   string
	}{
		"Fits":      {reason: "what fits stays", s: "payments", cells: 8, want: "payments"},
		"Unlimited": {reason: "0 is no limit", s: "payments", want: "payments"},
		"Middle":    {reason: "both ends tell names apart", s: "root:acme:payments", cells: 9, want: "root…ents"},
		"ASCII":     {reason: "an ellipsis of three cells", s: "root:acme:payments", cells: 9, ascii: true, want: "roo...nts"},
		"Narrow":    {reason: "no room for two ends", s: "payments", cells: 2, want: "pa"},
		"Chinese":   {reason: "a character of two cells is not cut in half", s: "支付支付支付", cells: 8, want: "支付…付"},
		"Combining": {reason: "an accent takes no cell of its own", s: "e\u0301e\u0301e\u0301", cells: 3, want: "e\u0301e\u0301e\u0301"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Display{ASCII: tc.ascii}.Cut(tc.s, tc.cells)
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if tc.cells > 0 && Cells(got) > tc.cells {
				t.Errorf("%q takes %d cells, not %d", got, Cells(got), tc.cells)
			}
		})
	}
}

func TestStyle(t *testing.T) {
	if got := (Display{}).Style(Failed, "failed"); got != "failed" {
		t.Errorf("without color there are no escape sequences, but %q", got)
	}
	if got := (Display{Color: true}).Style(Failed, "failed"); got != "\x1b[31mfailed\x1b[0m" || Cells(got) != 6 {
		t.Errorf("it is %q, of %d cells", got, Cells(got))
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\r\nb\tc\x1b[2Jd\u202e"), "a b c\uFFFD[2Jd\uFFFD"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}
