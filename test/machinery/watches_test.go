package machinery

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
)

// TestWatches: watches begin where they are told to, and tell all of their own workspace and
// nothing else.
func TestWatches(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		created := w.must(http.StatusCreated, "POST", k.url, k.body("a", "1"))
		changed := w.must(http.StatusOK, "PATCH", k.url+"/a", k.merged("2"), contentType(merge))
		w.must(http.StatusCreated, "POST", k.url, k.body("b", "1"))
		w.must(http.StatusOK, "DELETE", k.url+"/a", "")
		from := func(a answer) string { return "&resourceVersion=" + a.object.GetResourceVersion() }
		const one, two = "labelSelector=value%3D1", "labelSelector=value%3D2"
		// Version 0 is whatever the watch cache has, which is this from here on.
		w.must(http.StatusOK, "GET", k.url, "")
		for query, want := range map[string][]string{
			k.url + "?watch=true":                                                                 {"ADDED b"},
			k.url + "?watch=1&resourceVersion=0":                                                  {"ADDED b"},
			k.list + "?watch=true":                                                                {"ADDED b"},
			strings.Replace(k.url, "/namespaces", "/watch/namespaces", 1):                         {"ADDED b"},
			k.url + "?watch=true" + from(created):                                                 {"MODIFIED a", "ADDED b", "DELETED a"},
			k.url + "?watch=true" + from(changed):                                                 {"ADDED b", "DELETED a"},
			k.url + "?watch=true&" + one + from(created):                                          {"DELETED a", "ADDED b"},
			k.url + "?watch=true&" + two + from(created):                                          {"ADDED a", "DELETED a"},
			k.url + "?watch=true&fieldSelector=metadata.name%3Da" + from(created):                 {"MODIFIED a", "DELETED a"},
			strings.Replace(k.url, "/namespaces", "/watch/namespaces", 1) + "/a?" + from(changed): {"DELETED a"},
			strings.Replace(k.url, "/namespaces", "/watch/namespaces", 1) + "/b":                  {"ADDED b"},
		} {
			t.Run(strings.TrimPrefix(query, k.url), func(t *testing.T) {
				w := w.in(t)
				events := w.watch(query)
				events.expect(want...)
				w.must(http.StatusOK, "PATCH", k.url+"/b", `{"metadata":{"annotations":{"x":"`+time.Now().String()+`"}}}`, contentType(merge))
				if !strings.Contains(query, two) && !strings.Contains(query, "/a?") && !strings.Contains(query, "%3Da") {
					events.expect("MODIFIED b")
				}
				events.stop()
			})
		}
		deleted := w.watch(k.url + "?watch=true&labelSelector=value%3D2" + from(created))
		deleted.expect("ADDED a")
		if e := deleted.next(); field(&e.Object, k.path) != "2" {
			t.Errorf("a deleted object is told as %v, want what it was at last", e.Object.Object)
		}
		restarted(t, w, k)
		streamed(t, w, k)
	})
}

// restarted: a watch can go on where another one ended, after its time is over.
func restarted(t *testing.T, w *workspace, k kind) {
	t.Helper()
	began := time.Now()
	first := w.watch(k.url + "?watch=true&timeoutSeconds=1")
	last := ""
	for e := first.next(); e.Type != "end"; e = first.next() {
		last = e.Object.GetResourceVersion()
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("a watch of one second took %s", took)
	}
	w.must(http.StatusCreated, "POST", k.url, k.body("c", "1"))
	w.watch(k.url + "?watch=true&resourceVersion=" + last).expect("ADDED c")
	// A version that is still to come is waited for.
	w.watch(k.url + "?watch=true&timeoutSeconds=1&resourceVersion=9000000000000000000").expectNothingBut("ERROR")
}

// expectNothingBut fails on events of objects.
func (s *stream) expectNothingBut(allowed string) {
	s.t.Helper()
	for e := s.next(); e.Type != "end"; e = s.next() {
		if e.Type != allowed {
			s.t.Errorf("%s: event %s", s.path, e)
		}
	}
}

// streamed: a list as a watch ends with a bookmark that says so.
func streamed(t *testing.T, w *workspace, k kind) {
	t.Helper()
	const streaming = "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
	for _, version := range []string{"", "&resourceVersion=0", "&resourceVersion=1"} {
		events := w.watch(k.url + streaming + version)
		for _, want := range []string{"ADDED b", "ADDED c"} {
			if e := events.next(); e.String() != want {
				t.Fatalf("%s: event %q, want %q", version, e, want)
			}
		}
		e := events.next()
		if e.Type != "BOOKMARK" || e.Object.GetAnnotations()["k8s.io/initial-events-end"] != "true" || e.Object.GetKind() != k.name {
			t.Errorf("%s: after what exists comes %v, want the bookmark that says so", version, e.Object.Object)
		}
		w.must(http.StatusOK, "PATCH", k.url+"/c", k.merged(time.Now().Format("150405.000000")), contentType(merge))
		if e := events.next(); e.String() != "MODIFIED c" {
			t.Errorf("%s: event %q", version, e)
		}
	}
	w.refused(http.StatusUnprocessableEntity, "Invalid", "resourceVersionMatch", "GET", k.url+"?watch=true&sendInitialEvents=true", "")
	w.refused(http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden for list", "GET", k.url+"?sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "")
}

// TestConcurrentWatches: all watches tell the same in the same order.
func TestConcurrentWatches(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		version := w.must(http.StatusOK, "GET", k.url, "").field("metadata.resourceVersion")
		streams := make([]*stream, 5)
		for i := range streams {
			streams[i] = w.watch(k.url + "?watch=true&resourceVersion=" + version)
		}
		for i := range 30 {
			name := []string{"a", "b", "c"}[i%3]
			switch i / 3 % 3 {
			case 0:
				w.must(http.StatusCreated, "POST", k.url, k.body(name, "1"))
			case 1:
				w.must(http.StatusOK, "PATCH", k.url+"/"+name, k.merged("2"), contentType(merge))
			default:
				w.must(http.StatusOK, "DELETE", k.url+"/"+name, "")
			}
		}
		for range 30 {
			want := streams[0].next()
			for _, s := range streams[1:] {
				if got := s.next(); got.String() != want.String() || got.Object.GetResourceVersion() != want.Object.GetResourceVersion() {
					t.Fatalf("one watch tells %s, another %s", want, got)
				}
			}
		}
	})
}
