package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// collection is a server with one collection, which tells its watchers what it is sent.
type collection struct {
	events  chan string
	refuses atomic.Int32
	lists   atomic.Int32
}

func (s *collection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if code := s.refuses.Load(); code != 0 {
		w.WriteHeader(int(code))
		_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d}`, code)
		return
	}
	if r.URL.Query().Get("watch") == "" {
		s.lists.Add(1)
		_, _ = fmt.Fprint(w, `{"metadata": {"resourceVersion": "7"}, "items": []}`)
		return
	}
	if r.URL.Query().Get("resourceVersion") != "7" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case event := <-s.events:
			if event == "" {
				return
			}
			_, _ = fmt.Fprintf(w, `{"type": %q, "object": {}}`, event)
		}
	}
}

func watching(t *testing.T, of ...func(Collection) Collection) (*collection, *Changes, context.Context) {
	t.Helper()
	s := &collection{events: make(chan string)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{}, server.URL, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	changes := c.Changes()
	what := Objects(logicalcluster.Root.Path(), corev1alpha1.GroupVersion.WithResource("logicalclusters"), "cluster")
	for _, change := range of {
		what = change(what)
	}
	changes.Of(ctx, what, what)
	return s, changes, ctx
}

// mustWait fails unless Wait returns because something has changed, long before anybody would
// look by himself.
func mustWait(ctx context.Context, t *testing.T, c *Changes, what string) {
	t.Helper()
	began := time.Now()
	if err := c.Wait(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if took := time.Since(began); took > watchfulPause/2 {
		t.Errorf("%s: noticed after %s", what, took)
	}
}

func TestChanges(t *testing.T) {
	s, changes, ctx := watching(t)
	mustWait(ctx, t, changes, "the watch has begun")
	if pause := changes.pause(); pause != watchfulPause {
		t.Errorf("what is watched is looked at each %s", pause)
	}
	if lists := s.lists.Load(); lists != 1 {
		t.Errorf("named twice it is watched %d times", lists)
	}
	s.events <- "MODIFIED"
	mustWait(ctx, t, changes, "a change")
	s.events <- "BOOKMARK"
	select {
	case <-changes.changed:
		t.Error("a bookmark is no change")
	default:
	}
	// The end of a watch, and the begin of the next, may hide changes.
	s.events <- ""
	for s.lists.Load() < 2 {
		mustWait(ctx, t, changes, "the watch has ended")
	}
	s.events <- "DELETED"
	mustWait(ctx, t, changes, "a change in the next watch")
}

func TestChangesBlind(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		of     func(Collection) Collection
		want   time.Duration
	}{
		"Needed":   {"who may not watch what matters looks often", func(c Collection) Collection { return c }, blindPause},
		"Optional": {"what does not matter much is no reason to", Collection.Optional, watchfulPause},
	} {
		t.Run(name, func(t *testing.T) {
			s, changes, ctx := watching(t, tc.of)
			mustWait(ctx, t, changes, "the watch has begun")
			s.refuses.Store(http.StatusForbidden)
			s.events <- ""
			mustWait(ctx, t, changes, "the watch has ended")
			if pause := changes.pause(); pause != tc.want {
				t.Errorf("%s: each %s, want %s", tc.reason, pause, tc.want)
			}
			s.refuses.Store(0)
			mustWait(ctx, t, changes, "the watch is back")
			for changes.pause() != watchfulPause {
				mustWait(ctx, t, changes, "the watch is back")
			}
		})
	}
}

func TestChangesEnd(t *testing.T) {
	_, changes, ctx := watching(t)
	mustWait(ctx, t, changes, "the watch has begun")
	over, cancel := context.WithCancelCause(ctx)
	interrupted := errors.New("interrupted")
	cancel(interrupted)
	if err := changes.Wait(over); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
}
