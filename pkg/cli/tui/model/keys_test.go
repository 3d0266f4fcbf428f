package model

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func at(s string) logicalcluster.Path { return logicalcluster.MustParsePath(s) }

// TestKeys presses keys in the tree of the mock-ups, in which the cursor is on
// root:acme:payments, and looks at where it is then and at what is to be done.
func TestKeys(t *testing.T) {
	cases := map[string]struct {
		reason string
		keys   string
		// cursor is the path of the workspace under the cursor, "" if it does not move.
		cursor string
		// want is what is to be done beyond looking at details.
		want   []Command
		notice string
		o      Options
	}{
		"Down":            {reason: "j and down are one key", keys: "j down", cursor: "root:acme:payments:us"},
		"Up":              {reason: "so are k and up", keys: "k up", cursor: "root:acme"},
		"UpAtTheTop":      {reason: "there is nothing above", keys: "g up k", cursor: "root"},
		"DownAtTheEnd":    {reason: "nor below", keys: "G k down down j", cursor: "~"},
		"First":           {reason: "home and g", keys: "home", cursor: "root"},
		"Pages":           {reason: "half pages", keys: "g ctrl+d ctrl+u", cursor: "root"},
		"Close":           {reason: "left closes, and what is not seen is not watched", keys: "left", want: []Command{Unwatch{Seq: 3}}},
		"CloseTwice":      {reason: "left on what is closed goes to the parent", keys: "h h", cursor: "root:acme", want: []Command{Unwatch{Seq: 3}}},
		"CloseBranch":     {reason: "what is below what is closed is not watched either", keys: "g space", cursor: "root", want: []Command{Unwatch{Seq: 1}, Unwatch{Seq: 2}, Unwatch{Seq: 3}}},
		"OpenAgain":       {reason: "what was open below is open again", keys: "g space space", cursor: "root", want: []Command{Unwatch{Seq: 1}, Unwatch{Seq: 2}, Unwatch{Seq: 3}, Watch{Seq: 6, Path: at("root")}, Watch{Seq: 7, Path: at("root:acme")}, Watch{Seq: 8, Path: at("root:acme:payments")}}},
		"Open":            {reason: "right opens, with a watch", keys: "j right", cursor: "root:acme:payments:eu", want: []Command{Watch{Seq: 6, Path: at("root:acme:payments:eu")}}},
		"OpenChild":       {reason: "right on what is open goes to its first child", keys: "l", cursor: "root:acme:payments:eu"},
		"Enter":           {reason: "enter leaves for the workspace", keys: "j enter", cursor: "root:acme:payments:eu", want: []Command{Quit{To: at("root:acme:payments:eu")}}},
		"EnterMount":      {reason: "nobody can go where no workspace is", keys: "k enter", cursor: "root:acme:lab", notice: "lab leads to no workspace at present"},
		"EnterHome":       {reason: "the home workspace is found by the server", keys: "G enter", cursor: "~", want: []Command{Quit{Home: true}}},
		"Quit":            {reason: "q leaves for nowhere", keys: "q", want: []Command{Quit{}}},
		"Interrupt":       {reason: "so does ctrl+c", keys: "ctrl+c", want: []Command{Quit{}}},
		"Escape":          {reason: "and esc, with nothing to close", keys: "esc", want: []Command{Quit{}}},
		"EscapeOverlay":   {reason: "esc closes what is open first", keys: "? esc"},
		"EscapeFilter":    {reason: "and clears the filter", keys: "/ u s enter esc", cursor: "root:acme:payments:us"},
		"InterruptInText": {reason: "ctrl+c leaves from everywhere", keys: "c a b ctrl+c", want: []Command{AskTypes{Seq: 5, Parent: at("root:acme:payments")}, Quit{}}},
		"Suspend":         {reason: "ctrl+z stops, also in text", keys: "/ ctrl+z", want: []Command{Suspend{}}},
		"Filter":          {reason: "the cursor goes to the first hit", keys: "/ u s", cursor: "root:acme:payments:us"},
		"FilterNext":      {reason: "n goes to the next hit, and around", keys: "/ a enter n n", cursor: "~"},
		"FilterKeys":      {reason: "letters are text while one types", keys: "/ q q"},
		"NextOfNothing":   {reason: "n without a filter says so", keys: "n", notice: "nothing is filtered; / filters"},
		"Copy":            {reason: "the path", keys: "y", want: []Command{Copy{Text: "root:acme:payments"}}, notice: "copied: root:acme:payments", o: Options{Clipboard: true}},
		"CopyCommand":     {reason: "the command", keys: "Y", want: []Command{Copy{Text: "kubectl ws :root:acme:payments"}}, notice: "copied: kubectl ws :root:acme:payments", o: Options{Clipboard: true}},
		"NoClipboard":     {reason: "what cannot be copied is printed at the end", keys: "y q", want: []Command{Quit{Print: []string{"root:acme:payments"}}}},
		"Edit":            {reason: "the Workspace is in its parent", keys: "e", want: []Command{Edit{Subject{Path: at("root:acme:payments"), Parent: at("root:acme"), Name: "payments", Cluster: "2kb1y3r0q9x8payments"}}}},
		"EditRoot":        {reason: "root has no Workspace", keys: "g e", cursor: "root", notice: "there is no Workspace object of root"},
		"DeleteRoot":      {reason: "nor can it be deleted", keys: "g d", cursor: "root", notice: "root cannot be deleted from here"},
		"Pin":             {reason: "p pins", keys: "p", want: []Command{TogglePin{Path: at("root:acme:payments")}}},
		"ToPin":           {reason: "digits go to pins that are known", keys: "1", cursor: "root:acme:platform", o: Options{Pins: []Pin{{Name: "x", Path: at("root:acme:platform")}}}},
		"ToPinBelow":      {reason: "and open the way to others", keys: "1", cursor: "root:acme:platform:old:x", o: Options{Pins: []Pin{{Name: "x", Path: at("root:acme:platform:old:x")}}}, want: []Command{Watch{Seq: 5, Path: at("root:acme:platform")}, Watch{Seq: 6, Path: at("root:acme:platform:old")}}},
		"ToNoPin":         {reason: "a digit without a pin says so", keys: "2", notice: "there is no pin 2; p pins a workspace"},
		"Missing":         {reason: "what cannot be done is said", keys: "c", notice: "not with this server", o: Options{Missing: map[Key]string{"c": "not with this server"}}},
		"Reload":          {reason: "r asks anew", keys: "r", want: []Command{Unwatch{Seq: 3}, Watch{Seq: 5, Path: at("root:acme:payments")}}},
		"UnknownKey":      {reason: "other keys do nothing", keys: "x F12 ctrl+x"},
		"HomeOpens":       {reason: "the home workspace is asked for when it is opened, since the server makes it for that", keys: "G right", cursor: "~", want: []Command{FindHome{Seq: 6}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := acme(t, tc.o, 80, 24)
			p.commands = nil
			p.press(tc.keys)
			cursor := tc.cursor
			if cursor == "" {
				cursor = "root:acme:payments"
			}
			if got := p.place(); got != cursor {
				t.Errorf("%s: the cursor is on %s, want %s", tc.reason, got, cursor)
			}
			if diff := cmp.Diff(tc.want, p.commands, cmp.Comparer(func(a, b logicalcluster.Path) bool { return a == b })); diff != "" && len(tc.want)+len(p.commands) > 0 {
				t.Errorf("%s: to be done (-want +got):\n%s", tc.reason, diff)
			}
			if tc.notice != "" && p.notice != tc.notice {
				t.Errorf("%s: it says %q, want %q", tc.reason, p.notice, tc.notice)
			}
			p.checkSize(p.View())
		})
	}
}

// TestKeysAreListed holds that every key is explained, once.
func TestKeysAreListed(t *testing.T) {
	seen := map[Key]bool{}
	for _, b := range bindings() {
		if b.does == "" || b.act == nil {
			t.Errorf("%v is not explained, or does nothing", b.keys)
		}
		for _, k := range b.keys {
			if seen[k] {
				t.Errorf("%s does two things", k)
			}
			seen[k] = true
		}
	}
	for k := range strings.FieldsSeq("up k down j right l left h backspace space enter q esc ctrl+c g G pgup pgdown home end ctrl+u ctrl+d o O / n N f tab shift+tab c d w e s b p y Y @ r t ? ctrl+z") {
		if !seen[Key(k)] {
			t.Errorf("%s does nothing", k)
		}
	}
}

// TestDelete: a workspace goes when its name was typed, and not otherwise.
func TestDelete(t *testing.T) {
	p := acme(t, Options{}, 100, 24).press("down d")
	ask := last[AskPreview](p)
	if ask.Name != "eu" {
		t.Fatalf("the preview is of %s", ask.Name)
	}
	p.write("eu").press("enter").send(Preview{Seq: ask.Seq, Text: "nothing in it\n"})
	p.write("us").press("enter")
	for _, command := range p.commands {
		if _, ok := command.(Delete); ok {
			t.Fatal("it is deleted though its name was not typed")
		}
	}
	if !strings.Contains(p.View(), "nothing was deleted") {
		t.Errorf("it does not say so:\n%s", p.View())
	}
	p.write("eu").press("enter")
	if got := last[Delete](p); got.Subject != ask.Subject {
		t.Errorf("%v is deleted", got.Subject)
	}
	p.send(Deleted{Seq: last[Delete](p).Seq})
	if p.overlay != nil || p.notice != "root:acme:payments:eu is being deleted" {
		t.Errorf("it says %q:\n%s", p.notice, p.View())
	}
}

// TestCursorFollows: the cursor stays on its workspace, and goes to the next one when
// that is gone.
func TestCursorFollows(t *testing.T) {
	p := acme(t, Options{}, 80, 10).press("down down")
	payments := p.seqOf("root:acme:payments")
	var many []Item
	for _, name := range strings.Fields("a b c d e f g h i j") {
		many = append(many, Item{Name: name, Path: at("root:acme:payments:" + name)})
	}
	p.send(Changes{Seq: payments, Now: many})
	if got := p.place(); got != "root:acme:payments:us" {
		t.Errorf("with others above it, the cursor is on %s", got)
	}
	if !strings.Contains(p.View(), "→") {
		t.Errorf("the cursor is not on the screen:\n%s", p.View())
	}
	p.send(Changes{Seq: payments, Gone: []string{"us"}})
	if got := p.place(); got != "root:acme:payments:j" {
		t.Errorf("without its workspace, the cursor is on %s", got)
	}
	p.send(Changes{Seq: p.seqOf("root:acme"), Gone: []string{"payments"}})
	if got := p.place(); got != "root:acme:platform" {
		t.Errorf("without what was above it, the cursor is on %s", got)
	}
	if len(p.watches) != 2 {
		t.Errorf("%d watches are left, of root and root:acme there are two", len(p.watches))
	}
}

// TestLate: answers to what is not asked any more change nothing.
func TestLate(t *testing.T) {
	p := acme(t, Options{}, 100, 24)
	old := p.seqOf("root:acme:payments")
	describe := last[Describe](p).Seq
	p.press("space down w")
	why := last[AskWhy](p).Seq
	p.press("esc")
	before := p.View()
	p.send(
		Children{Seq: old, Items: []Item{{Name: "late"}}, First: true, Last: true},
		Changes{Seq: old, Now: []Item{{Name: "late"}}},
		Lost{Seq: old, Why: Denied, Problem: "late"},
		Part{Seq: describe, Of: Overview, Problem: "late"},
		Reasons{Seq: why, Text: "late"}, Reasons{Seq: why + 1000, Text: "late"},
		Home{Seq: 5000}, Created{Seq: old}, Preview{}, Deleted{}, Types{}, Found{}, Consumers{},
	)
	if diff := cmp.Diff(before, p.View()); diff != "" {
		t.Errorf("late answers are shown (-before +after):\n%s", diff)
	}
}

// TestReplaced: a workspace that was deleted and created again is another one.
func TestReplaced(t *testing.T) {
	p := acme(t, Options{}, 80, 24).press("down space")
	old := p.seqOf("root:acme:payments:eu")
	p.children("root:acme:payments:eu", Item{Name: "child", Cluster: "x"})
	p.send(Changes{Seq: p.seqOf("root:acme:payments"), Gone: []string{"eu"}, Now: []Item{{Name: "eu", Path: at("root:acme:payments:eu"), Cluster: "another"}}})
	if strings.Contains(p.View(), "child") {
		t.Errorf("it has what the old one had:\n%s", p.View())
	}
	if p.watches[old] != nil {
		t.Error("the old one is watched")
	}
}

// TestCommandsAreValues holds that commands can be compared, stored and sent elsewhere.
func TestCommandsAreValues(t *testing.T) {
	for _, command := range acme(t, Options{}, 100, 24).press("w esc c esc f esc e s p y q").commands {
		if kind := reflect.TypeOf(command).Kind(); kind != reflect.Struct {
			t.Errorf("%T is a %s", command, kind)
		}
	}
}
