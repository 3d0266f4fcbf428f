package walk

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

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// server is a tree of workspaces in memory.
type server struct {
	mu sync.Mutex
	// children are the workspaces by the path of their parent, errs what is answered
	// instead.
	children map[string][]tenancyv1alpha1.Workspace
	errs     map[string]error
	// all is what is answered for everything, nil if that is not allowed.
	all map[string][]tenancyv1alpha1.Workspace

	lists, running, most int
}

func newServer() *server {
	return &server{children: map[string][]tenancyv1alpha1.Workspace{}, errs: map[string]error{}}
}

// add adds the workspace at path. Its cluster is named like its path, with dashes.
func (s *server) add(path string, edit func(*tenancyv1alpha1.Workspace)) {
	p := logicalcluster.MustParsePath(path)
	parent, _ := p.Parent()
	ws := tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: p.Base(), UID: types.UID(path)}}
	ws.Spec.URL = "https://host/clusters/" + path
	ws.Spec.Cluster = clusterOf(path)
	if edit != nil {
		edit(&ws)
	}
	s.children[parent.String()] = append(s.children[parent.String()], ws)
}

func clusterOf(path string) string { return strings.ReplaceAll(path, ":", "-") }

func (s *server) Workspaces(ctx context.Context, parent logicalcluster.Path) ([]tenancyv1alpha1.Workspace, error) {
	s.mu.Lock()
	s.lists++
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if err := s.errs[parent.String()]; err != nil {
		return nil, err
	}
	return s.children[parent.String()], ctx.Err()
}

func (s *server) AllWorkspaces(context.Context) (map[string][]tenancyv1alpha1.Workspace, error) {
	if s.all == nil {
		return nil, apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	}
	return s.all, nil
}

func (s *server) Explain(_ context.Context, p logicalcluster.Path, err error) error {
	if p.Base() == "missing" {
		return errMissing
	}
	return err
}

var errMissing = errors.New("there is no such workspace")

// describe writes a tree in a line for each workspace.
func describe(n *Node) string {
	var b strings.Builder
	for _, n := range n.All() {
		fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", n.Depth), n.Path)
		if n.Mount() {
			b.WriteString(" mount")
		}
		if n.Workspace != nil && n.Workspace.DeletionTimestamp != nil {
			b.WriteString(" deleting")
		}
		if n.Forbidden {
			b.WriteString(" forbidden")
		}
		if n.Hidden > 0 {
			fmt.Fprintf(&b, " +%d", n.Hidden)
		}
		if n.Err != nil {
			fmt.Fprintf(&b, " %v", n.Err)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestWalk(t *testing.T) {
	broken := errors.New("broken")
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
	s := newServer()
	s.add("root:b", nil)
	s.add("root:a", nil)
	s.add("root:gone", func(ws *tenancyv1alpha1.Workspace) { ws.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })
	s.add("root:new", func(ws *tenancyv1alpha1.Workspace) { ws.Spec.URL = "" })
	s.add("root:mnt", func(ws *tenancyv1alpha1.Workspace) { ws.Spec.Mount = &tenancyv1alpha1.Mount{} })
	s.add("root:up", func(ws *tenancyv1alpha1.Workspace) { ws.Spec.URL = "https://host/clusters/root" })
	s.add("root:odd", func(ws *tenancyv1alpha1.Workspace) { ws.Spec.URL = "https://host/" })
	s.add("root:secret", nil)
	s.add("root:broken", nil)
	s.add("root:none", nil)
	s.add("root:a:x", nil)
	s.add("root:a:y", nil)
	s.add("root:a:x:deep", nil)
	s.errs["root:secret"] = forbidden
	s.errs["root:broken"] = broken
	s.errs["root:missing"] = apierrors.NewNotFound(schema.GroupResource{}, "")
	s.errs["root:none"] = apierrors.NewNotFound(schema.GroupResource{}, "")

	cases := map[string]struct {
		reason  string
		start   string
		options Options
		want    string
		err     error
	}{
		"All": {
			reason: "everything is found in the order of the server, and what cannot be read is marked",
			start:  "root",
			want: `root
 root:b
 root:a
  root:a:x
   root:a:x:deep
  root:a:y
 root:new
 root:mnt mount
 root:up the URL "https://host/clusters/root" leads back up
 root:odd the URL "https://host/" is no workspace URL
 root:secret forbidden
 root:broken broken
 root:none
`,
		},
		"Depth": {
			reason:  "what is too deep is counted",
			start:   "root:a",
			options: Options{Depth: 1},
			want:    "root:a\n root:a:x +1\n root:a:y\n",
		},
		"Deleting": {
			reason:  "what is on its way out can be seen",
			start:   "root",
			options: Options{Depth: 1, Deleting: true},
			want: `root
 root:b
 root:a +2
 root:gone deleting
 root:new
 root:mnt mount
 root:up the URL "https://host/clusters/root" leads back up
 root:odd the URL "https://host/" is no workspace URL
 root:secret forbidden
 root:broken broken
 root:none
`,
		},
		"Limit":          {reason: "a walk may have enough", start: "root", options: Options{Limit: 2}, want: "root\n root:b\n root:a\n"},
		"StartForbidden": {reason: "what is wrong with the start is an error", start: "root:secret", want: "root:secret forbidden forbidden: no\n", err: forbidden},
		"StartEmpty":     {reason: "a workspace without workspaces API has none", start: "root:none", want: "root:none\n"},
		"StartMissing":   {reason: "which is not the same as not being there", start: "root:missing", want: "root:missing there is no such workspace\n", err: errMissing},
		"StartBroken":    {reason: "whatever it is", start: "root:broken", want: "root:broken broken\n", err: broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found := 0
			tc.options.Found = func(n *Node) {
				found++
				if n.Parent != nil && n.Parent.Depth != n.Depth-1 {
					t.Errorf("%s was found at depth %d, below %s", n.Path, n.Depth, n.Parent.Path)
				}
			}
			top, err := Walk(t.Context(), s, logicalcluster.MustParsePath(tc.start), tc.options)
			if !errors.Is(err, tc.err) {
				t.Errorf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, describe(top)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if want := strings.Count(tc.want, "\n"); found != want {
				t.Errorf("%s: told about %d workspaces, want %d", tc.reason, found, want)
			}
		})
	}
	if s.most > requests {
		t.Errorf("%d requests at a time, want at most %d", s.most, requests)
	}
}

func TestBigWalk(t *testing.T) {
	const fanOut = 2 * bigAfter
	grown := func() *server {
		s := newServer()
		for i := range fanOut {
			s.add(fmt.Sprintf("root:w%d", i), nil)
			s.add(fmt.Sprintf("root:w%d:child", i), nil)
		}
		return s
	}
	everything := func(s *server) map[string][]tenancyv1alpha1.Workspace {
		all := map[string][]tenancyv1alpha1.Workspace{}
		for parent, items := range s.children {
			all[clusterOf(parent)] = items
			for i := range items {
				if _, ok := all[items[i].Spec.Cluster]; !ok {
					all[items[i].Spec.Cluster] = nil
				}
			}
		}
		return all
	}
	cases := map[string]struct {
		reason string
		all    func(*server) map[string][]tenancyv1alpha1.Workspace
		// atMost is how many workspaces may be asked for their children, if not all.
		atMost int
	}{
		"Allowed":   {"one list replaces hundreds", everything, 1 + requests},
		"Forbidden": {"who may not list everything gets the same tree", func(*server) map[string][]tenancyv1alpha1.Workspace { return nil }, 0},
		"Lies": {
			"an answer that lacks what was seen is not believed",
			func(*server) map[string][]tenancyv1alpha1.Workspace {
				return map[string][]tenancyv1alpha1.Workspace{"root": nil}
			},
			0,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := grown()
			s.all = tc.all(s)
			top, err := Walk(t.Context(), s, logicalcluster.Root.Path(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(top.All()); n != 1+2*fanOut {
				t.Errorf("%s: %d workspaces, want %d", tc.reason, n, 1+2*fanOut)
			}
			if tc.atMost > 0 && s.lists > tc.atMost {
				t.Errorf("%s: %d lists, want at most %d", tc.reason, s.lists, tc.atMost)
			}
		})
	}
}

func TestInterruptedWalk(t *testing.T) {
	s := newServer()
	s.add("root:a", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	options := Options{Found: func(n *Node) {
		if n.Depth == 1 {
			cancel(stopped)
		}
	}}
	if _, err := Walk(ctx, s, logicalcluster.Root.Path(), options); !errors.Is(err, stopped) {
		t.Errorf("error %v, want why it was stopped", err)
	}
}
