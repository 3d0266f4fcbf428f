package plugins

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/cli/run"
)

// patience is how long a command may take on a busy machine.
const patience = 2 * time.Minute

// surface is what people look at.
type surface struct {
	name     string
	terminal bool
	env      map[string]string
	// what must not be in the output.
	forbids map[string]*regexp.Regexp
}

var (
	escapes = map[string]*regexp.Regexp{"an escape sequence": regexp.MustCompile(`[\x1b\r]`)}
	colors  = map[string]*regexp.Regexp{"a color": regexp.MustCompile(`\x1b\[[0-9;]*m`)}
	moves   = map[string]*regexp.Regexp{"something drawn in place": regexp.MustCompile(`\r|\x1b\[[0-9;]*[A-Za-ln-z]`)}
	// U+FFFD stands for what a server sent to drive the terminal.
	nonASCII  = map[string]*regexp.Regexp{"a character that does not arrive": regexp.MustCompile(`[^\x00-\x7F\x{FFFD}]`)}
	noise     = map[string]*regexp.Regexp{"noise of Go": regexp.MustCompile(`goroutine |panic:|%!|&\{|0xc0|context deadline exceeded|unmarshal|<nil>|map\[`)}
	asciiOnly = map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}
)

// surfaces are the displays that there are. Those off a terminal come first, the narrow
// one before the wide one: their output has to be the same.
var surfaces = []surface{
	{name: "pipe of 40 columns", env: map[string]string{"COLUMNS": "40"}, forbids: escapes},
	{name: "pipe of 200 columns", env: map[string]string{"COLUMNS": "200"}, forbids: escapes},
	{name: "pipe in the C locale", env: asciiOnly, forbids: nonASCII},
	{name: "terminal of 40 columns", terminal: true, env: map[string]string{"COLUMNS": "40"}},
	{name: "terminal of 80 columns", terminal: true, env: map[string]string{"COLUMNS": "80"}},
	{name: "terminal of 200 columns", terminal: true, env: map[string]string{"COLUMNS": "200"}},
	{name: "terminal with NO_COLOR", terminal: true, env: map[string]string{"NO_COLOR": "1"}, forbids: colors},
	{name: "dumb terminal", terminal: true, env: map[string]string{"TERM": "dumb"}, forbids: escapes},
	{name: "terminal in the C locale", terminal: true, env: asciiOnly, forbids: nonASCII},
	{name: "terminal read aloud", terminal: true, env: map[string]string{"ACCESSIBLE": "1"}, forbids: moves},
}

// strict returns a surface for each kind of rules.
func strict() []surface {
	return slices.DeleteFunc(slices.Clone(surfaces[1:]), func(s surface) bool { return s.forbids == nil || s.terminal && s.env["LC_ALL"] != "" })
}

// use makes the environment of the test that of the surface.
func (s surface) use(t *testing.T) {
	t.Helper()
	env := map[string]string{
		"TERM": "xterm", "LANG": "en_US.UTF-8",
		"LC_ALL": "", "LC_CTYPE": "", "NO_COLOR": "", "CLICOLOR_FORCE": "", "COLUMNS": "", "ACCESSIBLE": "",
	}
	for name, value := range s.env {
		env[name] = value
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// result is what came of a command.
type result struct {
	stdout, stderr string
	code           int
}

// all is what somebody at a terminal sees of it.
func (r result) all() string { return r.stdout + r.stderr }

// keyboard is a terminal at which nobody types.
type keyboard struct{ io.Reader }

func (keyboard) IsTerminal() bool { return true }

// screen is a terminal that somebody looks at.
type screen struct{ *bytes.Buffer }

func (screen) IsTerminal() bool { return true }

// call calls a command on the surface.
func (s surface) call(t *testing.T, c command, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := run.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	if s.terminal {
		streams = run.Streams{In: keyboard{strings.NewReader("")}, Out: screen{&out}, ErrOut: screen{&errOut}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	words := append(append([]string{}, c.words...), args...)
	code := run.Execute(ctx, streams, c.program.build, words)
	if ctx.Err() != nil {
		t.Errorf("$ kubectl %s %s\nit did not end within %s", c.line(), strings.Join(args, " "), patience)
	}
	return result{stdout: out.String(), stderr: errOut.String(), code: code}
}

// check holds a result against the rules of the surface, and against those for all.
func (s surface) check(t *testing.T, c command, args []string, r result) {
	t.Helper()
	for _, rules := range []map[string]*regexp.Regexp{s.forbids, noise} {
		for what, pattern := range rules {
			if found := pattern.FindString(r.all()); found != "" {
				t.Errorf("$ kubectl %s %s\non a %s there is %s (%q) in\n%s", c.line(), strings.Join(args, " "), s.name, what, found, r.all())
			}
		}
	}
	r.checkErrors(t, c, args)
}

// checkErrors sees that a failure is one line, with at most two hints, and that nothing
// else looks like one.
func (r result) checkErrors(t *testing.T, c command, args []string) {
	t.Helper()
	errors, hints := 0, 0
	for line := range strings.Lines(r.stderr) {
		switch {
		case strings.HasPrefix(line, "error: "):
			errors++
		case strings.HasPrefix(line, "hint: "):
			hints++
		}
	}
	want := 0
	if r.code != 0 && r.code != 3 {
		want = 1
	}
	if errors != want || hints > 2 && want > 0 {
		t.Errorf("$ kubectl %s %s\nexit code %d with %d lines \"error:\" and %d \"hint:\" in\n%s", c.line(), strings.Join(args, " "), r.code, errors, hints, r.stderr)
	}
}
