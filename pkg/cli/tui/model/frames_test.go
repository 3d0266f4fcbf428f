package model

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// start is when the tests take place.
var start = time.Date(2026, 8, 20, 10, 44, 12, 0, time.UTC)

// ago returns a time before start.
func ago(d time.Duration) time.Time { return start.Add(-d) }

// player is who uses a model, and the server that answers it.
type player struct {
	t testing.TB
	*Model
	// commands are those that came out since they were looked at.
	commands []Command
}

func play(t testing.TB, o Options) *player {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = start
	}
	p := &player{t: t, Model: New(o)}
	p.commands = p.Start()
	return p
}

func (p *player) send(messages ...Msg) *player {
	for _, msg := range messages {
		p.commands = append(p.commands, p.Update(msg)...)
	}
	return p
}

// type_ presses keys; names of more than a character are between spaces.
func (p *player) press(keys string) *player {
	for k := range strings.FieldsSeq(keys) {
		p.send(Key(k))
	}
	return p
}

// write types text.
func (p *player) write(text string) *player {
	for _, r := range text {
		p.send(Key(string(r)))
	}
	return p
}

// seqOf returns the number of the watch of the workspace at path.
func (p *player) seqOf(path string) int {
	p.t.Helper()
	n := p.tree.at(logicalcluster.MustParsePath(path))
	if n == nil {
		p.t.Fatalf("%s is not known", path)
	}
	return n.watch
}

// children answers the watch of path.
func (p *player) children(path string, items ...Item) *player {
	p.t.Helper()
	for i := range items {
		if items[i].Path.Empty() {
			items[i].Path = logicalcluster.MustParsePath(path).Join(items[i].Name)
		}
	}
	return p.send(Children{Seq: p.seqOf(path), Items: items, First: true, Last: true})
}

// last returns the latest command of a type.
func last[C Command](p *player) C {
	p.t.Helper()
	for i := len(p.commands) - 1; i >= 0; i-- {
		if c, ok := p.commands[i].(C); ok {
			return c
		}
	}
	var none C
	p.t.Fatalf("there is no %T among %v", none, p.commands)
	return none
}

// acme is the tree of the mock-ups.
func acme(t testing.TB, o Options, width, height int) *player {
	t.Helper()
	o.Current = logicalcluster.MustParsePath("root:acme:payments")
	o.Server, o.User, o.Home = "kcp.acme.dev", "adam", true
	p := play(t, o).send(Size{width, height})
	ready := func(name, kind string) Item {
		return Item{Name: name, Type: kind, Phase: "Ready", Created: ago(12 * 24 * time.Hour), Cluster: "2kb1y3r0q9x8" + name}
	}
	p.children("root", ready("acme", "root:organization"))
	p.children("root:acme",
		Item{Name: "lab", Type: "root:universal", Phase: "Connecting", Mount: "Cluster/lab", Away: true},
		ready("payments", "root:acme:team"), ready("platform", "root:acme:team"), ready("secret", "root:acme:team"))
	p.children("root:acme:payments", ready("eu", "root:universal"),
		Item{Name: "us", Type: "root:universal", Phase: "Initializing", Since: ago(8 * time.Second), Created: ago(8 * time.Second), Reason: "waiting for root:acme:team"})
	p.describePayments()
	return p
}

// describePayments answers with the details of the workspace under the cursor.
func (p *player) describePayments() {
	if !p.wantsDetails() {
		return
	}
	p.send(settled{p.details.seq})
	seq := last[Describe](p).Seq
	day := 24 * time.Hour
	p.send(
		Part{Seq: seq, Of: Overview, Details: Details{
			Facts: Facts{Type: "root:acme:team", Phase: "Ready", Cluster: "2kb1y3r0q9x8w7v6", Shard: "eu-1", Default: "root:universal", By: "adam", Created: ago(12 * day)},
			Conditions: []Condition{
				{State: OK, Name: "WorkspaceScheduled", Since: ago(12 * day)},
				{State: OK, Name: "WorkspaceInitialized", Since: ago(12 * day)},
			},
		}},
		Part{Seq: seq, Of: Bindings, Details: Details{Bindings: []Binding{
			{Name: "tenancy.kcp.io-3f2k9", Export: "root:tenancy.kcp.io", Resources: []string{"workspaces.tenancy.kcp.io"}},
			{Name: "certs", Export: "root:platform:certs", Phase: "Binding", Open: 2},
		}}},
		Part{Seq: seq, Of: Exports, Details: Details{Exports: []Export{
			{Name: "payments.acme.io", Identity: "5fdf7c7aaf40b2c4", Resources: []string{"invoices.payments.acme.io"}, Slices: []string{"payments.acme.io"}, Endpoints: 1},
		}}},
		Part{Seq: seq, Of: Events, Details: Details{Events: []Event{
			{At: ago(time.Minute), Warning: true, Reason: "BackOff", Subject: "Invoice default/a", Message: "the printer is on fire", Count: 3},
		}}},
		Part{Seq: seq, Of: YAML, Details: Details{YAML: "apiVersion: tenancy.kcp.io/v1alpha1\nkind: Workspace\n"}},
	)
}

// golden compares the frame with a file.
func (p *player) golden(name string) {
	p.t.Helper()
	frame := p.View()
	p.checkSize(frame)
	file := filepath.Join("testdata", "frames", name+".txt")
	got := trimRight(frame) + "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		p.t.Errorf("the frame is not that of %s (-want +got):\n%s", file, diff)
	}
}

// checkSize holds that a frame fits the terminal.
func (p *player) checkSize(frame string) {
	p.t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > max(1, p.height) {
		p.t.Errorf("the frame has %d lines, the terminal %d", len(lines), p.height)
	}
	for i, line := range lines {
		if width := display.Cells(line); width > p.width {
			p.t.Errorf("line %d has %d cells, the terminal %d: %q", i, width, p.width, line)
		}
	}
}

func trimRight(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// allWidths are those at which the layout differs, and one that is larger than most.
var allWidths = []int{30, 60, 80, 100, 200}

// twoWidths are enough for what is drawn the same way everywhere.
var twoWidths = []int{60, 100}

func TestFrames(t *testing.T) {
	color := display.Display{Terminal: true, Color: true}
	ascii := display.Display{Terminal: true, ASCII: true}
	scenes := map[string]struct {
		reason string
		widths []int
		o      Options
		act    func(*player)
	}{
		"Tree":  {"the mock-ups", allWidths, Options{}, func(p *player) { p.denySecret() }},
		"ASCII": {"a terminal without other characters", allWidths, Options{Display: ascii}, func(p *player) { p.denySecret() }},
		"Color": {"colors only repeat words, and frames have the same text", twoWidths, Options{Display: color}, func(p *player) { p.denySecret() }},
		"Reconnecting": {"a server that is gone leaves its data, and says that they are old", allWidths, Options{}, func(p *player) {
			p.send(Lost{Seq: p.seqOf("root"), Why: Unreachable, Problem: "connection refused", Retry: start.Add(4 * time.Second)})
		}},
		"Connecting": {"before the first answer there is the way to the current workspace", twoWidths, Options{}, func(p *player) {
			size := Size{p.width, p.height}
			p.Model = New(Options{Current: logicalcluster.MustParsePath("root:acme:payments"), Server: "kcp.acme.dev", Now: start, Home: true})
			p.send(size)
		}},
		"Why": {"why is asked in place of the tree", allWidths, Options{}, func(p *player) {
			p.press("down down w")
			p.send(Reasons{Seq: last[AskWhy](p).Seq, Text: "workspace  root:acme:payments:us    root:acme:team\nphase      Initializing for 8s\n\nok       scheduled\nwaiting  initializers          2 of 3 removed\n           waiting  root:acme:team      WorkspaceType root:acme/team, access by rules (3)\n\nblocked  initializer root:acme:team: nothing has removed it\nnext     kubectl kcp debug initializer root:acme:team\n"})
		}},
		"WhyFails": {"what was found before stays when it cannot be asked again", twoWidths, Options{}, func(p *player) {
			p.press("w")
			p.send(Reasons{Seq: last[AskWhy](p).Seq, Text: "phase      Ready\n"})
			p.send(Elapsed{Now: start.Add(2 * time.Second), Msg: last[Later](p).Msg})
			p.send(Reasons{Seq: last[AskWhy](p).Seq, Problem: "cannot reach the server https://kcp.acme.dev: connection refused"})
		}},
		"Filter": {"what does not match is left out, what is above stays", allWidths, Options{}, func(p *player) { p.press("/").write("us") }},
		"Find": {"workspaces are found by parts of their path, also those that nobody has opened", twoWidths, Options{}, func(p *player) {
			p.press("f")
			p.send(Found{Seq: last[Walk](p).Seq, Items: []Item{{Name: "old", Path: logicalcluster.MustParsePath("root:acme:platform:old"), Type: "root:universal", Phase: "Ready"}}})
			p.write("ao")
		}},
		"Create": {"a name, and the types that are allowed here", twoWidths, Options{}, func(p *player) {
			p.press("c")
			p.send(Types{Seq: last[AskTypes](p).Seq, Types: []string{"root:universal", "root:acme:job"}, Default: "root:universal"})
			p.write("asia").press("down down")
		}},
		"CreateRefused": {"what the server says stands where it can be mended", twoWidths, Options{}, func(p *player) {
			p.press("c").write("eu").press("enter")
			p.send(Created{Seq: last[Create](p).Seq, Problem: `workspaces.tenancy.kcp.io "eu" already exists`, Hints: []string{"kubectl ws :root:acme:payments:eu"}})
		}},
		"Delete": {"what would go, and the name as the answer", twoWidths, Options{}, func(p *player) {
			p.press("d")
			p.send(Preview{Seq: last[AskPreview](p).Seq, Text: "root:acme:payments (team, 12d old)\n  2 workspaces below it     eu, us\n  211 objects in 9 resources\n", Protected: "money"})
			p.write("paym")
		}},
		"Log": {"requests that were made", twoWidths, Options{}, func(p *player) {
			p.send(Requested{
				{At: start, Method: "GET", Path: "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces?limit=500", Status: 200, Took: 12 * time.Millisecond},
				{At: start, Method: "GET", Path: "/clusters/root:acme/apis/tenancy.kcp.io/v1alpha1/workspaces?limit=500", Status: 403, Took: 3 * time.Millisecond},
				{At: start, Method: "POST", Path: "/clusters/root/apis", Took: time.Second, Problem: "connection refused"},
			})
			p.press("@")
		}},
		"Help":     {"all keys, with the commands", twoWidths, Options{}, func(p *player) { p.press("?") }},
		"Bindings": {"the second page of details; without a place beside the tree it stands in its place", twoWidths, Options{}, func(p *player) { p.tabTo(Bindings) }},
		"Exports":  {"the third", twoWidths, Options{}, func(p *player) { p.tabTo(Exports) }},
		"Events":   {"the fourth", twoWidths, Options{}, func(p *player) { p.tabTo(Events) }},
		"YAML":     {"the fifth", twoWidths, Options{}, func(p *player) { p.tabTo(YAML) }},
		"Ages":     {"other columns", twoWidths, Options{}, func(p *player) { p.press("t") }},
		"Clusters": {"and others", twoWidths, Options{}, func(p *player) { p.press("t t") }},
		"Bound": {"who has bound an export is marked", allWidths, Options{}, func(p *player) {
			p.tabTo(Exports)
			p.press("esc b")
			p.send(Consumers{Seq: last[AskConsumers](p).Seq, Clusters: []string{"2kb1y3r0q9x8eu", "2kb1y3r0q9x8platform"}})
		}},
		"Refused": {"nobody goes to a mount that leads to no workspace", twoWidths, Options{}, func(p *player) { p.press("up enter") }},
		"Terminating": {"a workspace that goes is there until it is gone", twoWidths, Options{}, func(p *player) {
			p.send(Changes{Seq: p.seqOf("root:acme:payments"), Now: []Item{{Name: "eu", Path: logicalcluster.MustParsePath("root:acme:payments:eu"), Phase: PhaseTerminating, Since: ago(time.Minute), Reason: "waiting for root:acme:team"}}})
			p.press("down")
		}},
		"Scrolled": {"more rows than lines", twoWidths, Options{}, func(p *player) {
			var items []Item
			for i := range 40 {
				items = append(items, Item{Name: fmt.Sprintf("region-%02d", i), Type: "root:universal", Phase: "Ready"})
			}
			p.children("root:acme:payments", items...)
			p.press("G up up")
		}},
		"Deep": {"what is too deep for the width is drawn at its edge", allWidths, Options{}, func(p *player) {
			at := "root:acme:payments"
			for _, name := range []string{"one", "two", "three", "four", "five", "six", "seven", "a-name-that-is-longer-than-others"} {
				p.children(at, Item{Name: name, Type: "root:universal", Phase: "Ready"})
				at += ":" + name
				p.press("down space")
			}
		}},
		"Wide": {"characters of two cells count as two", twoWidths, Options{}, func(p *player) {
			p.send(User{Name: "アダム"})
		}},
		"Offline": {"a file can be looked at only", twoWidths, Options{Offline: "out.tgz", Missing: map[Key]string{"c": "not with a file, which can be looked at only"}}, func(p *player) { p.press("c") }},
		"Many": {"what is opened as a whole is asked for when it is much", twoWidths, Options{}, func(p *player) {
			p.press("g o")
			var items []Item
			for i := range 300 {
				items = append(items, Item{Name: fmt.Sprintf("region-%03d", i), Type: "root:universal", Phase: "Ready"})
			}
			p.children("root:acme:platform", items...)
		}},
	}
	for name, scene := range scenes {
		for _, width := range scene.widths {
			t.Run(fmt.Sprintf("%s%d", name, width), func(t *testing.T) {
				t.Log(scene.reason)
				p := acme(t, scene.o, width, 14)
				scene.act(p)
				p.golden(fmt.Sprintf("%s_%d", strings.ToLower(name), width))
			})
		}
	}
}

// denySecret opens a workspace that the user may not look into, and goes back.
func (p *player) denySecret() {
	p.press("G up space")
	p.send(Lost{Seq: p.seqOf("root:acme:secret"), Why: Denied, Problem: "workspace access not permitted"})
	p.press("space")
	p.moveTo(p.tree.at(p.o.Current))
	p.describePayments()
}

// tabTo turns to a page of details.
func (p *player) tabTo(page Aspect) {
	for !p.wantsDetails() || p.tab != page {
		p.press("tab")
		if _, ok := p.overlay.(*detailsPage); ok && p.details.have[Overview] == partAsked {
			p.send(settled{p.details.seq})
			p.describePayments()
		}
	}
}

// TestSmall holds that no size is too small to recover from.
func TestSmall(t *testing.T) {
	p := acme(t, Options{}, 100, 30)
	for width := 1; width < 40; width++ {
		for height := 1; height < 10; height++ {
			p.send(Size{width, height})
			p.checkSize(p.View())
			if small := width < 30 || height < 6; small != strings.HasPrefix(p.View(), "kcp: please make room"[:min(width-1, 20)]) && width > 3 {
				t.Errorf("at %dx%d the frame is %q", width, height, p.View())
			}
		}
	}
	p.send(Size{100, 14})
	p.describePayments()
	p.golden("recovered")
}

// TestReadme holds that the pictures in the README are those that are drawn.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{60, 100} {
		p := acme(t, Options{}, width, 14)
		p.denySecret()
		if frame := trimRight(p.View()); !strings.Contains(string(readme), frame) {
			t.Errorf("the README does not have the frame of %d columns:\n%s", width, frame)
		}
	}
}

// TestOldDetails holds that the details are faint while the server is not reached, as the
// rows are, and in their own colors again when it is.
func TestOldDetails(t *testing.T) {
	for _, width := range []int{60, 100} {
		p := acme(t, Options{Display: display.Display{Terminal: true, Color: true}}, width, 14)
		p.describePayments()
		before := p.View()
		seq := p.seqOf("root")
		p.send(Lost{Seq: seq, Why: Unreachable, Problem: "connection refused", Retry: start.Add(4 * time.Second)})
		lost := p.View()
		if ansi.Strip(before) == ansi.Strip(lost) {
			t.Errorf("%d: nobody is told in words:\n%s", width, lost)
		}
		fact := "WorkspaceScheduled"
		if width < twoPaneWidth {
			fact = "Initializing 8s"
		}
		dim, _, _ := strings.Cut(p.style(faint, "x"), "x")
		found := false
		for line := range strings.SplitSeq(lost, "\n") {
			i := strings.LastIndex(line, fact)
			if i < 0 {
				continue
			}
			found = true
			if style := line[strings.LastIndex(line[:i], "\x1b["):i]; !strings.HasPrefix(style, dim) {
				t.Errorf("%d: what may be old is not faint: %q", width, line)
			}
		}
		if !found {
			t.Errorf("%d: there are no details:\n%s", width, lost)
		}
		p.send(Live{Seq: seq})
		p.send(Changes{Seq: seq})
		if back := p.View(); back != before {
			t.Errorf("%d: it does not look as before:\n%q\n%q", width, back, before)
		}
	}
}
