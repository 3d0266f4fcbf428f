package model

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	if len(lines) > p.height {
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

func TestFrames(t *testing.T) {
	scenes := map[string]struct {
		reason string
		o      Options
		act    func(*player)
	}{
		"tree": {reason: "the mock-ups", act: func(*player) {}},
	}
	for name, scene := range scenes {
		for _, width := range []int{30, 60, 80, 100, 200} {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				p := acme(t, scene.o, width, 14)
				scene.act(p)
				p.golden(fmt.Sprintf("%s-%d", name, width))
			})
		}
	}
}
