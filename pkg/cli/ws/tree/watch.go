package tree

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/stage"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// frame is how long a drawing is shown at least.
	frame = 100 * time.Millisecond
	// tick is how often what counts seconds is drawn anew.
	tick = time.Second
	// manyWatches is from how many workspaces on one watch for all of them is tried.
	manyWatches = 64

	eventKind = "WorkspaceTreeEvent"
)

// watch shows the tree and what happens in it until ctx is done.
func (o *Options) watch(ctx context.Context, c *client.Client, start logicalcluster.Path) error {
	top, m, err := o.grow(ctx, c, start)
	if err != nil {
		return err
	}
	w := &watching{Options: o, top: top, more: m, source: newSource(), client: c, live: &live{options: o}}
	if err := w.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.everywhere(ctx)
	w.live.open, w.live.close = func(n *walk.Node) { w.open(ctx, n) }, w.close
	w.live.start(top)
	return w.run(ctx)
}

// watching is a tree that is watched.
type watching struct {
	*Options
	top    *walk.Node
	more   *more
	source *source
	client *client.Client
	live   *live

	// shared are the nodes by the name of their cluster, if one watch for all workspaces
	// tells about the children of each.
	shared map[string]*walk.Node
	screen *screen
}

// begin shows the tree as it was found.
func (w *watching) begin() error {
	out := w.finder.Streams.Out
	if d := w.finder.Display.For(out); d.Redraw && !w.Output.Document() {
		w.screen = &screen{out: out}
		return w.draw()
	}
	if w.Output.Document() {
		return writeJSON(out, w.more.view(w.filter().prune(w.top)))
	}
	return write(out, w.sketch(w.more).draw(w.filter().prune(w.top)))
}

// everywhere tries to follow all workspaces with one watch, if there are many.
func (w *watching) everywhere(ctx context.Context) {
	if len(w.top.All()) < manyWatches {
		return
	}
	all, err := w.client.Everywhere(ctx)
	if err != nil {
		return
	}
	w.shared = map[string]*walk.Node{}
	go w.source.follow(ctx, nil, all)
}

// open watches the children of n, by a watch of their own if no other tells about them.
func (w *watching) open(ctx context.Context, n *walk.Node) {
	if w.shared != nil && n.Cluster != "" {
		w.shared[n.Cluster] = n
		return
	}
	w.source.open(ctx, n, inOne{server: w.client, path: n.Path})
}

// close ends what open has begun.
func (w *watching) close(n *walk.Node) {
	if w.shared[n.Cluster] == n {
		delete(w.shared, n.Cluster)
	}
	w.source.close(n)
}

// run shows what happens until ctx is done.
func (w *watching) run(ctx context.Context) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return run.Stopped(ctx)
		case m := <-w.source.messages:
			w.take(m)
			if w.screen != nil {
				w.live.take()
				if due == nil {
					due = time.After(frame)
				}
				continue
			}
			if err := w.tell(w.live.take()); err != nil {
				return err
			}
		case <-due:
			due = nil
			if err := w.draw(); err != nil {
				return err
			}
		case <-ticker.C:
			if w.screen != nil && due == nil {
				due = time.After(0)
			}
		}
	}
}

// take takes in a message.
func (w *watching) take(m message) {
	switch {
	case m.node != nil && m.err != nil:
		w.live.fail(m.node, m.err)
	case m.node != nil && m.listed:
		w.live.list(m.node, m.items)
	case m.node != nil:
		w.live.event(m.node, m.event)
	case m.err != nil:
		// It is tried again, and until then the tree stays as it is.
	case m.listed:
		w.takeAll(m.items)
	default:
		if n := w.shared[clusterOf(&m.event.Workspace)]; n != nil {
			w.live.event(n, m.event)
		}
	}
}

// takeAll takes in all workspaces there are.
func (w *watching) takeAll(items []tenancyv1alpha1.Workspace) {
	children := map[string][]tenancyv1alpha1.Workspace{}
	for i := range items {
		cluster := clusterOf(&items[i])
		children[cluster] = append(children[cluster], items[i])
	}
	var list func(n *walk.Node)
	list = func(n *walk.Node) {
		if w.shared[n.Cluster] == n {
			w.live.list(n, children[n.Cluster])
		}
		for _, child := range n.Children {
			list(child)
		}
	}
	list(w.top)
}

func clusterOf(ws *tenancyv1alpha1.Workspace) string {
	return ws.Annotations[logicalcluster.AnnotationKey]
}

// draw draws the tree in place of what was drawn before.
func (w *watching) draw() error {
	return w.screen.show(w.sketch(w.more).draw(w.filter().prune(w.top)))
}

// Event is a change of a tree as a document.
type Event struct {
	metav1.TypeMeta `json:",inline"`
	// Time is when the change was seen.
	Time string `json:"time"`
	// Type is added, changed or removed.
	Type string `json:"type"`
	// Workspace is how it is now. Its children are told about by events of their own.
	Workspace Item `json:"workspace"`
}

// tell writes a line for each change that the filters ask for.
func (w *watching) tell(changes []change) error {
	out := w.finder.Streams.Out
	at := w.now().UTC().Format(time.RFC3339)
	for _, c := range changes {
		if !w.filter().matches(c.node) {
			continue
		}
		if w.Output.Document() {
			item := w.more.single(&node{Node: c.node})
			item.Children = []Item{}
			if err := writeJSON(out, Event{TypeMeta: output.Meta(eventKind), Time: at, Type: c.kind, Workspace: item}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(out, w.line(at, c)); err != nil {
			return err
		}
	}
	return nil
}

// line returns what is told about a change.
func (w *watching) line(at string, c change) string {
	state := ""
	if c.kind != removed {
		s := stage.Of(c.node.Workspace)
		state = s.Phase
		if w.Status && s.Reason != "" {
			state += ": " + s.Reason
		}
	}
	line := fmt.Sprintf("%s %-8s %s %s", at, c.kind, display.Pad(c.node.Path.String(), 19), state)
	return strings.TrimRight(line, " ")
}

// writeJSON writes a document in one line.
func writeJSON(w io.Writer, document any) error {
	encoded, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", encoded)
	return err
}
