package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// stopped ends a test that waits for what never comes.
const stopped = time.Minute

func path(s string) logicalcluster.Path { return logicalcluster.MustParsePath(s) }

// family is a source with a few workspaces.
type family map[string][]model.Item

func (f family) Watch(ctx context.Context, w model.Watch, emit func(model.Msg)) {
	items, ok := f[w.Path.String()]
	if !ok {
		emit(model.Lost{Seq: w.Seq, Why: model.Denied, Problem: "no access"})
	} else {
		emit(model.Children{Seq: w.Seq, Items: items, First: true, Last: true})
	}
	<-ctx.Done()
}

func (f family) Describe(_ context.Context, d model.Describe, emit func(model.Msg)) {
	emit(model.Part{Seq: d.Seq, Of: model.Overview})
}

// pipe is a reader of what somebody types, of whom it says that they sit at a terminal.
type pipe struct{ *strings.Reader }

func (pipe) IsTerminal() bool { return true }

// paper is a terminal that everything is printed on.
type paper struct{ strings.Builder }

func (*paper) IsTerminal() bool { return true }

// TestTranslate: what the terminal says in Bubble Tea's words and in the model's.
func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		reason string
		msg    tea.Msg
		want   model.Msg
	}{
		"Letter": {"a letter is itself", tea.KeyPressMsg{Code: 'a', Text: "a"}, model.Key("a")},
		"Upper":  {"so is a capital one", tea.KeyPressMsg{Code: 'g', ShiftedCode: 'G', Text: "G", Mod: tea.ModShift}, model.Key("G")},
		"Sign":   {"and a sign, however it is typed", tea.KeyPressMsg{Code: '2', Text: "@", Mod: tea.ModShift}, model.Key("@")},
		"Space":  {"space has a name", tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}, model.Key("space")},
		"Up":     {"other keys, too", tea.KeyPressMsg{Code: tea.KeyUp}, model.Key("up")},
		"PgDown": {"page down", tea.KeyPressMsg{Code: tea.KeyPgDown}, model.Key("pgdown")},
		"Tab":    {"backwards", tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}, model.Key("shift+tab")},
		"Ctrl":   {"control", tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}, model.Key("ctrl+c")},
		"Size":   {"a size", tea.WindowSizeMsg{Width: 80, Height: 24}, model.Size{Width: 80, Height: 24}},
		"Wheel":  {"the wheel", tea.MouseWheelMsg{Button: tea.MouseWheelUp}, model.Wheel(-1)},
		"Click":  {"no mouse is needed, and clicks do nothing", tea.MouseClickMsg{Button: tea.MouseLeft}, nil},
		"Paste":  {"pasted text", tea.PasteMsg{Content: "a b"}, model.Paste("a b")},
		"Answer": {"what the runner sends goes through", model.User{Name: "me"}, model.User{Name: "me"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, translate(tc.msg)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// runnerOf returns a runner and what it sends.
func runnerOf(t *testing.T, config Config) (*runner, <-chan model.Msg) {
	t.Helper()
	sent := make(chan model.Msg, 100)
	r := newRunner(t.Context(), &config)
	r.send = func(msg model.Msg) { sent <- msg }
	r.crashed = func(err error) { sent <- crashed{err} }
	t.Cleanup(r.close)
	return r, sent
}

func receive(t *testing.T, sent <-chan model.Msg) model.Msg {
	t.Helper()
	select {
	case msg := <-sent:
		return msg
	case <-time.After(stopped):
		t.Fatal("nothing was sent")
		return nil
	}
}

// TestRunner: each command is answered with its number, failures included.
func TestRunner(t *testing.T) {
	fails := errors.New("it did not work")
	actions := Actions{
		Home:    func(context.Context) (logicalcluster.Path, error) { return path("1abc"), nil },
		Types:   func(context.Context, logicalcluster.Path) ([]string, string, error) { return []string{"a"}, "b", nil },
		Create:  func(context.Context, logicalcluster.Path, string, string) error { return run.Hint(fails, "do this") },
		Preview: func(context.Context, model.Subject) (string, string, error) { return "much", "gold", nil },
		Delete:  func(context.Context, model.Subject) error { return fails },
		Why: func(_ context.Context, _ model.Subject, width int) (string, error) {
			return strings.Repeat("-", width), nil
		},
		Consumers: func(context.Context, model.Subject, string) ([]string, error) { return nil, fails },
		TogglePin: func(context.Context, logicalcluster.Path) ([]model.Pin, string, error) { return nil, "pinned", nil },
	}
	cases := map[string]struct {
		command model.Command
		want    model.Msg
	}{
		"Home":      {model.FindHome{Seq: 1}, model.Home{Seq: 1, Path: path("1abc")}},
		"Types":     {model.AskTypes{Seq: 2}, model.Types{Seq: 2, Types: []string{"a"}, Default: "b"}},
		"Create":    {model.Create{Seq: 3}, model.Created{Seq: 3, Problem: fails.Error(), Hints: []string{"do this"}}},
		"Preview":   {model.AskPreview{Seq: 4}, model.Preview{Seq: 4, Text: "much", Protected: "gold"}},
		"Delete":    {model.Delete{Seq: 5}, model.Deleted{Seq: 5, Problem: fails.Error()}},
		"Why":       {model.AskWhy{Seq: 6, Width: 3}, model.Reasons{Seq: 6, Text: "---"}},
		"Consumers": {model.AskConsumers{Seq: 7}, model.Consumers{Seq: 7, Problem: fails.Error()}},
		"Pin":       {model.TogglePin{}, model.Pinned{Said: "pinned"}},
		"NoWalk":    {model.Walk{Seq: 8}, model.Found{Seq: 8, Done: true}},
		"Watch":     {model.Watch{Seq: 9, Path: path("root")}, model.Lost{Seq: 9, Why: model.Denied, Problem: "no access"}},
		"Describe":  {model.Describe{Seq: 10}, model.Part{Seq: 10, Of: model.Overview}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, sent := runnerOf(t, Config{Source: family{}, Actions: actions})
			r.do(tc.command)
			if diff := cmp.Diff(tc.want, receive(t, sent), cmp.Comparer(func(a, b logicalcluster.Path) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunnerCancels: what nobody waits for ends, and what ends late says nothing.
func TestRunnerCancels(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	r, sent := runnerOf(t, Config{Actions: Actions{Why: func(ctx context.Context, _ model.Subject, _ int) (string, error) {
		close(began)
		<-ctx.Done()
		defer close(ended)
		return "late", nil
	}}})
	r.do(model.AskWhy{Seq: 1})
	<-began
	r.do(model.Cancel{Seq: 1})
	<-ended
	r.close()
	select {
	case msg := <-sent:
		t.Errorf("%v was sent", msg)
	default:
	}
}

// TestRunnerBugs: a bug in an action ends the program, and is no crash in the middle of
// a screen.
func TestRunnerBugs(t *testing.T) {
	r, sent := runnerOf(t, Config{Actions: Actions{Delete: func(context.Context, model.Subject) error { panic("a bug") }}})
	r.do(model.Delete{})
	msg, ok := receive(t, sent).(crashed)
	if !ok || msg.err.Error() != "a bug in this program ended it: a bug" {
		t.Errorf("%v was sent", msg)
	}
}

// TestScreenBugs: so is a bug while a message is looked at, or a frame is drawn.
func TestScreenBugs(t *testing.T) {
	s := &screen{}
	_, cmd := s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if cmd == nil {
		t.Fatal("the program goes on")
	}
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Errorf("the program is to do %T", cmd())
	}
	_, err := s.leave(t.Context(), t.Output(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "a bug in this program ended it: ") {
		t.Errorf("it ends with %v", err)
	}
}

// TestLines is a session in which nothing moves.
func TestLines(t *testing.T) {
	source := family{
		"root":      {{Name: "acme", Path: path("root:acme"), Type: "root:organization", Phase: "Ready"}},
		"root:acme": {{Name: "eu", Path: path("root:acme:eu"), Type: "root:universal", Phase: "Initializing", Reason: "waiting for a"}, {Name: "lab", Path: path("root:acme:lab"), Mount: "Cluster/lab", Away: true, Phase: "Connecting"}},
	}
	actions := Actions{Why: func(_ context.Context, s model.Subject, _ int) (string, error) {
		return "because of " + s.Path.String() + " in " + s.Parent.String(), nil
	}}
	cases := map[string]struct {
		reason, typed, want string
		result              Result
	}{
		"Look": {
			reason: "down and up",
			typed:  "1\n..\n1\nq\n",
			want: "root:acme\n1. eu, root:universal, Initializing, waiting for a\n2. lab, Cluster/lab, Connecting\n> " +
				"root, the current workspace\n1. acme, root:organization\n> root:acme\n",
		},
		"Switch":      {reason: "a number", typed: "s 1\n", result: Result{To: path("root:acme")}},
		"SwitchHere":  {reason: "no number is the workspace that is listed", typed: "1\ns\n", result: Result{To: path("root:acme")}},
		"SwitchMount": {reason: "nobody can go there", typed: "1\ns 2\nq\n", want: "nobody can go to lab at present\n"},
		"Why":         {reason: "why", typed: "w 1\nq\n", want: "because of root:acme in root\n"},
		"WhyHere":     {reason: "why here", typed: "1\nw\nq\n", want: "because of root:acme in root\n"},
		"NoNumber":    {reason: "numbers that are not listed", typed: "7\nq\n", want: "there is no number 7 here\n"},
		"Help":        {reason: "what is no command shows those that are", typed: "what\nq\n", want: "> " + linesHelp},
		"Denied":      {reason: "what may not be seen", typed: "1\n1\nq\n", want: "root:acme:eu\nerror: no access\n"},
		"Top":         {reason: "there is an end", typed: "..\nq\n", want: "there is nothing above root\n"},
		"End":         {reason: "the end of what is typed leaves", typed: "", want: "root, the current workspace\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &paper{}
			result, err := Run(t.Context(), Config{
				Streams: run.Streams{In: pipe{strings.NewReader(tc.typed)}, Out: out, ErrOut: out},
				Model:   model.Options{Current: path("root"), Display: display.Display{Terminal: true, Accessible: true}},
				Source:  source, Actions: actions,
			})
			if err != nil || result != tc.result {
				t.Errorf("%s: result %v (%v), want %v", tc.reason, result, err, tc.result)
			}
			if !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s: it says\n%s\nand not\n%s", tc.reason, out, tc.want)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("there are escape sequences in %q", out)
			}
		})
	}
}

// TestNoTerminal: without a terminal at both ends there is no tree.
func TestNoTerminal(t *testing.T) {
	for name, streams := range map[string]run.Streams{
		"Input":  {In: strings.NewReader(""), Out: &paper{}},
		"Output": {In: pipe{strings.NewReader("")}, Out: t.Output()},
	} {
		if _, err := Run(t.Context(), Config{Streams: streams}); !errors.Is(err, ErrNoTerminal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
