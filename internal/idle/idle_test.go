package idle

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

const limit = 30 * time.Minute

// request is one at a time after the start, that takes a while.
type request struct {
	path      string
	at, takes time.Duration
}

func TestEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		requests []request
		want     time.Duration
	}{
		"Unused":  {"who has started a server may still be about to use it", nil, limit},
		"Request": {"time begins anew with each request", []request{{"/clusters/root/api", time.Minute, time.Second}}, limit + time.Minute + time.Second},
		"Watch":   {"a watch is use until it ends", []request{{"/clusters/root/api", time.Minute, 2 * limit}}, 3*limit + time.Minute},
		"Overlapping": {
			"the last one counts that ends",
			[]request{{"/api", 0, 10 * time.Minute}, {"/api", time.Minute, time.Minute}},
			limit + 10*time.Minute,
		},
		"Probes": {
			"what looks after the server never stops",
			[]request{{"/readyz", time.Minute, time.Second}, {"/livez/etcd", time.Minute, time.Second}, {"/metrics", time.Minute, time.Second}},
			limit,
		},
		"Names": {"only what is at the top looks after the server", []request{{"/clusters/metrics/livez", time.Minute, 0}}, limit + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				use := NewUse(clock.RealClock{})
				for _, r := range tc.requests {
					go serve(use, r)
				}
				if !use.Ended(t.Context(), limit) {
					t.Fatal("it ended before")
				}
				if got := time.Since(began); got != tc.want {
					t.Errorf("%s: it ended after %s, want %s", tc.reason, got, tc.want)
				}
			})
		})
	}
}

// serve serves a request, which ends with a panic as cut connections do.
func serve(use *Use, r request) {
	time.Sleep(r.at)
	defer func() { _ = recover() }()
	use.With(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(r.takes)
		panic(http.ErrAbortHandler)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, r.path, http.NoBody))
}

func TestEndedWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if NewUse(clock.RealClock{}).Ended(ctx, limit) {
			t.Error("a server that was told to stop is idle")
		}
	})
}
