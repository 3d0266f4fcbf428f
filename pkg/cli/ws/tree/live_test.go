package tree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// seen returns a workspace as a watch shows it.
func seen(path string, phase corev1alpha1.Phase, edit ...func(*tenancyv1alpha1.Workspace)) tenancyv1alpha1.Workspace {
	p := logicalcluster.MustParsePath(path)
	ws := tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: p.Base(), UID: types.UID(path)}}
	ws.Spec.URL = "https://host/clusters/" + path
	ws.Status.Phase = phase
	for _, edit := range edit {
		edit(&ws)
	}
	return ws
}

func deleted(ws *tenancyv1alpha1.Workspace) { ws.DeletionTimestamp = &metav1.Time{Time: noon} }

func TestLive(t *testing.T) {
	const ready, initializing = corev1alpha1.PhaseReady, corev1alpha1.PhaseInitializing
	modified := func(ws tenancyv1alpha1.Workspace) client.Watched {
		return client.Watched{Type: watch.Modified, Workspace: ws}
	}
	type step func(l *live, at func(string) *walk.Node)
	event := func(parent string, e client.Watched) step {
		return func(l *live, at func(string) *walk.Node) { l.event(at(parent), e) }
	}
	list := func(parent string, items ...tenancyv1alpha1.Workspace) step {
		return func(l *live, at func(string) *walk.Node) { l.list(at(parent), items) }
	}
	fail := func(parent string, err error) step {
		return func(l *live, at func(string) *walk.Node) { l.fail(at(parent), err) }
	}
	// The tree that the steps begin with.
	begin := []step{list("root", seen("root:a", ready), seen("root:c", ready)), list("root:a", seen("root:a:x", ready))}

	cases := map[string]struct {
		reason  string
		options Options
		steps   []step
		// told are the changes, tree the drawing in the end, watched what is watched then.
		told, tree, watched string
	}{
		"Nothing": {
			reason: "what is already there is no change",
			steps:  begin, tree: "root(a(x) c)", watched: "root root:a root:a:x root:c",
		},
		"Added": {
			reason: "what is new is put where it belongs, and watched",
			steps:  []step{event("root", client.Watched{Type: watch.Added, Workspace: seen("root:b", initializing)})},
			told:   "added root:b Initializing\n", tree: "root(a(x) b c)", watched: "root root:a root:a:x root:b root:c",
		},
		"Changed": {
			reason: "a phase is a change, other things are not",
			steps: []step{
				event("root", modified(seen("root:c", initializing))),
				event("root", modified(seen("root:c", initializing, func(ws *tenancyv1alpha1.Workspace) { ws.Labels = map[string]string{"a": "b"} }))),
			},
			told: "changed root:c Initializing\n", tree: "root(a(x) c)", watched: "root root:a root:a:x root:c",
		},
		"Placed": {
			reason: "a workspace is watched once it has a place",
			steps: []step{
				event("root", client.Watched{Type: watch.Added, Workspace: seen("root:b", "", func(ws *tenancyv1alpha1.Workspace) { ws.Spec.URL = "" })}),
				event("root", modified(seen("root:b", ready))),
			},
			told: "added root:b Scheduling\nchanged root:b Ready\n", tree: "root(a(x) b c)", watched: "root root:a root:a:x root:b root:c",
		},
		"Deleting": {
			reason: "what is being deleted is as good as gone, with all that is in it",
			steps:  []step{event("root", modified(seen("root:a", ready, deleted)))},
			told:   "removed root:a:x\nremoved root:a\n", tree: "root(c)", watched: "root root:c",
		},
		"DeletingShown": {
			reason: "unless it is to be shown", options: Options{All: true},
			steps: []step{
				event("root", modified(seen("root:c", ready, deleted))),
				event("root", client.Watched{Type: watch.Deleted, Workspace: seen("root:c", ready, deleted)}),
			},
			told: "changed root:c Terminating\nremoved root:c\n", tree: "root(a(x))", watched: "root root:a root:a:x",
		},
		"Replaced": {
			reason: "another workspace of the same name is another one",
			steps:  []step{event("root", modified(seen("root:c", ready, func(ws *tenancyv1alpha1.Workspace) { ws.UID = "new" })))},
			told:   "removed root:c\nadded root:c Ready\n", tree: "root(a(x) c)", watched: "root root:a root:a:x root:c",
		},
		"Missed": {
			reason: "a list says what was missed while nothing was heard",
			steps:  []step{list("root", seen("root:b", ready), seen("root:c", initializing))},
			told:   "removed root:a:x\nremoved root:a\nadded root:b Ready\nchanged root:c Initializing\n",
			tree:   "root(b c)", watched: "root root:b root:c",
		},
		"Depth": {
			reason: "what is too deep is counted", options: Options{Depth: 1},
			steps: []step{
				event("root:a", client.Watched{Type: watch.Added, Workspace: seen("root:a:y", ready)}),
				event("root:a", client.Watched{Type: watch.Deleted, Workspace: seen("root:a:x", ready)}),
				event("root:a", client.Watched{Type: watch.Added, Workspace: seen("root:a:z", ready)}),
			},
			tree: "root(a+2 c)", watched: "root root:a root:c",
		},
		"Forbidden": {
			reason: "access may be taken away",
			steps:  []step{fail("root:a", apierrors.NewForbidden(schema.GroupResource{}, "", nil))},
			told:   "removed root:a:x\n", tree: "root(a! c)", watched: "root root:a root:c",
		},
		"Failed": {
			reason: "what cannot be read at the moment stays as it was",
			steps:  []step{fail("root:a", errors.New("no"))},
			tree:   "root(a?(x) c)", watched: "root root:a root:a:x root:c",
		},
		"Recovered": {
			reason: "until it can be read again",
			steps:  []step{fail("root:a", errors.New("no")), list("root:a", seen("root:a:x", ready))},
			tree:   "root(a(x) c)", watched: "root root:a root:a:x root:c",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			top := &walk.Node{Name: "root", Path: logicalcluster.Root.Path()}
			watched := map[*walk.Node]bool{}
			l := &live{options: &tc.options}
			l.open = func(n *walk.Node) { watched[n] = true }
			l.close = func(n *walk.Node) { delete(watched, n) }
			l.start(top)
			at := func(path string) *walk.Node {
				for _, n := range top.All() {
					if n.Path.String() == path {
						return n
					}
				}
				t.Fatalf("there is no %s", path)
				return nil
			}
			for _, step := range begin {
				step(l, at)
			}
			l.take()
			var told strings.Builder
			for _, step := range tc.steps {
				step(l, at)
				for _, c := range l.take() {
					phase := ""
					if c.kind != removed {
						phase = " " + l.look(c.node)
					}
					fmt.Fprintf(&told, "%s %s%s\n", c.kind, c.node.Path, phase)
				}
			}
			var paths []string
			for _, n := range top.All() {
				if watched[n] {
					paths = append(paths, n.Path.String())
				}
			}
			got := []string{told.String(), abridged(top), strings.Join(paths, " ")}
			if diff := cmp.Diff([]string{tc.told, tc.tree, tc.watched}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(paths) != len(watched) {
				t.Errorf("%d workspaces are watched, %d of them are in the tree", len(watched), len(paths))
			}
		})
	}
}

// abridged writes a tree in a line.
func abridged(n *walk.Node) string {
	s := n.Name
	if n.Forbidden {
		s += "!"
	}
	if n.Err != nil {
		s += "?"
	}
	if n.Hidden > 0 {
		s += fmt.Sprintf("+%d", n.Hidden)
	}
	var children []string
	for _, child := range n.Children {
		children = append(children, abridged(child))
	}
	if len(children) > 0 {
		s += "(" + strings.Join(children, " ") + ")"
	}
	return s
}

// scripted is what a scripted server answers: a list, and what the watch after it brings.
type scripted struct {
	listErr  error
	items    []tenancyv1alpha1.Workspace
	events   []client.Watched
	watchErr error
}

// scriptedServer answers lists one after the other.
type scriptedServer struct {
	mu       sync.Mutex
	answers  []scripted
	versions []string
}

func (s *scriptedServer) Pages(_ context.Context, each func([]tenancyv1alpha1.Workspace) error) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.answers[0].listErr; err != nil {
		s.answers = s.answers[1:]
		return "", err
	}
	return "listed", each(s.answers[0].items)
}

func (s *scriptedServer) Watch(ctx context.Context, version string, _ func(), each func(client.Watched) error) error {
	s.mu.Lock()
	answer := s.answers[0]
	s.versions = append(s.versions, version)
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	for _, e := range answer.events {
		if err := each(e); err != nil {
			return err
		}
	}
	if answer.watchErr == nil && len(s.answers) == 1 {
		<-ctx.Done()
		return ctx.Err()
	}
	return answer.watchErr
}

func TestSource(t *testing.T) {
	at := func(version string) func(*tenancyv1alpha1.Workspace) {
		return func(ws *tenancyv1alpha1.Workspace) { ws.ResourceVersion = version }
	}
	server := &scriptedServer{answers: []scripted{
		{listErr: errors.New("down")},
		{items: []tenancyv1alpha1.Workspace{seen("root:a", "")}, events: []client.Watched{
			{Type: watch.Added, Workspace: seen("root:b", "", at("7"))},
			{Type: watch.Bookmark, Workspace: tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}},
		}},
		{watchErr: apierrors.NewResourceExpired("too old")},
		{items: []tenancyv1alpha1.Workspace{seen("root:c", "")}},
	}}
	s := newSource()
	pauses := make(chan time.Duration, 100)
	s.pause = func(_ context.Context, d time.Duration) { pauses <- d }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.open(ctx, &walk.Node{Path: logicalcluster.Root.Path()}, server)

	var heard []string
	for len(heard) < 4 {
		select {
		case m := <-s.messages:
			switch {
			case m.err != nil:
				heard = append(heard, "error "+m.err.Error())
			case m.listed:
				heard = append(heard, "list "+m.items[0].Name)
			default:
				heard = append(heard, string(m.event.Type)+" "+m.event.Workspace.Name)
			}
		case <-ctx.Done():
			t.Fatalf("nothing more is heard after %v", heard)
		}
	}
	cancel()
	if diff := cmp.Diff([]string{"error down", "list a", "ADDED b", "list c"}, heard); diff != "" {
		t.Errorf("failures are told and what expired is listed anew (-want +got):\n%s", diff)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if diff := cmp.Diff([]string{"listed", "9"}, server.versions[:2]); diff != "" {
		t.Errorf("a watch goes on from the last bookmark (-want +got):\n%s", diff)
	}
	if first := <-pauses; first != firstPause {
		t.Errorf("the first pause after a failure is %s, not %s", first, firstPause)
	}
}
