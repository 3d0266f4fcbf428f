package inflight

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func do(handler http.Handler, verb string, groups ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	ctx := request.WithRequestInfo(r.Context(), &request.RequestInfo{IsResourceRequest: true, Verb: verb})
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: "somebody", Groups: groups})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(ctx))
	return w
}

func TestWith(t *testing.T) {
	const seats = 2
	cases := map[string]struct {
		reason string
		// running fill the seats.
		running []string
		verb    string
		groups  []string
		want    int
	}{
		"Room":       {"one seat is left", []string{"get"}, "get", nil, http.StatusOK},
		"Full":       {"there is no queue", []string{"get", "list"}, "get", nil, http.StatusTooManyRequests},
		"Shared":     {"reads and writes share one bound", []string{"get", "create"}, "update", nil, http.StatusTooManyRequests},
		"Privileged": {"an administrator gets through to a busy server", []string{"get", "create"}, "get", []string{user.SystemPrivilegedGroup}, http.StatusOK},
		"Watch":      {"what runs for long would fill the bound for good", []string{"get", "create"}, "watch", nil, http.StatusOK},
		"WatchesFree": {
			"watches take no seats", []string{"watch", "watch", "watch", "get"}, "get", nil, http.StatusOK,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit := NewLimit(seats)
			inside, release := make(chan struct{}), make(chan struct{})
			longRunning := func(_ *http.Request, info *request.RequestInfo) bool { return info.Verb == "watch" }
			blocked := With(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				inside <- struct{}{}
				<-release
			}), limit, longRunning)
			ended := make(chan struct{})
			for _, verb := range tc.running {
				go func() {
					do(blocked, verb)
					ended <- struct{}{}
				}()
				<-inside
			}
			free := With(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), limit, longRunning)
			w := do(free, tc.verb, tc.groups...)
			if w.Code != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, w.Code, tc.want)
			}
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
			close(release)
			for range tc.running {
				<-ended
			}
			if w := do(free, "get"); w.Code != http.StatusOK {
				t.Errorf("seats were not given back: %d", w.Code)
			}
		})
	}
}

// TestShares takes seats for clusters, given one letter each, as long as there are any.
func TestShares(t *testing.T) {
	cases := map[string]struct {
		reason  string
		seats   int
		held    string
		cluster string
		want    bool
	}{
		"Alone":      {"one workspace has half of the seats", 8, "aaa", "a", true},
		"TooMany":    {"the other half is for others", 8, "aaaa", "a", false},
		"Other":      {"who has no seat is not concerned", 8, "aaaa", "b", true},
		"Rest":       {"two that take all they can leave a third as much as they have", 9, "aaabbb", "a", false},
		"Third":      {"and that one is served", 9, "aaabbb", "c", true},
		"Many":       {"the last seat is for whoever has none", 4, "abc", "d", true},
		"Full":       {"the bound is for all", 4, "abcd", "e", false},
		"One":        {"the only seat may be taken", 1, "", "a", true},
		"NoCluster":  {"what is in no workspace has no share", 4, "---", "-", true},
		"NoClusters": {"but is bounded", 4, "----", "-", false},
	}
	of := func(letter string) logicalcluster.Name {
		if letter == "-" {
			return logicalcluster.Name{}
		}
		return logicalcluster.MustParseName("cluster" + letter)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit := NewLimit(tc.seats)
			for _, letter := range tc.held {
				if !limit.take(of(string(letter))) {
					t.Fatalf("no seat for %c", letter)
				}
			}
			if got := limit.take(of(tc.cluster)); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			} else if got {
				limit.leave(of(tc.cluster))
			}
			for _, letter := range tc.held {
				limit.leave(of(string(letter)))
			}
			if limit.taken != 0 || len(limit.of) != 0 {
				t.Errorf("%d seats and %d clusters are remembered of nobody", limit.taken, len(limit.of))
			}
		})
	}
}

func TestWatermark(t *testing.T) {
	var m watermark
	m.enter()
	m.enter()
	m.leave()
	if got := m.reset(); got != 2 {
		t.Errorf("the most there was is %d", got)
	}
	if got := m.reset(); got != 1 {
		t.Errorf("what is still there is %d", got)
	}
}
