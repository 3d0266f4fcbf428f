// Package inflight bounds how many requests are served at a time.
//
// There is one bound for everybody, and no queue: a request beyond it is answered with
// 429 and told to come back in a second. The privileged (system:masters) are not counted
// and never refused, and neither are requests that run for long, such as watches. The
// bound is for the whole process; it says nothing of how workspaces share it.
package inflight

import (
	"net/http"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// retryAfter is how many seconds those that are refused are asked to wait.
const retryAfter = "1"

var readingVerbs = sets.New("get", "list", "watch")

// Limit is a bound and how much of it is taken. Its methods may be called concurrently.
type Limit struct {
	seats           int64
	taken           atomic.Int64
	reading, writes watermark
}

// NewLimit returns a bound of so many requests.
func NewLimit(seats int) *Limit { return &Limit{seats: int64(seats)} }

// take takes a seat and says whether there was one.
func (l *Limit) take() bool {
	if l.taken.Add(1) > l.seats {
		l.taken.Add(-1)
		return false
	}
	return true
}

// Measure sets upstream's metric of requests in flight to the most there were at a time
// since it was last called.
func (l *Limit) Measure() {
	metrics.UpdateInflightRequestMetrics(metrics.ExecutingPhase, int(l.reading.reset()), int(l.writes.reset()))
}

// With refuses requests for which limit has no seat. It comes behind authentication.
func With(next http.Handler, limit *Limit, isLongRunning request.LongRunningRequestCheck) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if ok && isLongRunning(r, info) || isPrivileged(r) {
			next.ServeHTTP(w, r)
			return
		}
		mutating := ok && !readingVerbs.Has(info.Verb)
		if !limit.take() {
			metrics.RecordDroppedRequest(r, info, metrics.APIServerComponent, mutating)
			metrics.RecordRequestTermination(r, info, metrics.APIServerComponent, http.StatusTooManyRequests)
			w.Header().Set("Retry-After", retryAfter)
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		defer limit.taken.Add(-1)
		kind := &limit.reading
		if mutating {
			kind = &limit.writes
		}
		kind.enter()
		defer kind.leave()
		next.ServeHTTP(w, r)
	})
}

func isPrivileged(r *http.Request) bool {
	u, ok := request.UserFrom(r.Context())
	return ok && slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)
}

// watermark counts what is there and remembers the most there was.
type watermark struct{ now, high atomic.Int64 }

func (m *watermark) enter() {
	now := m.now.Add(1)
	for {
		high := m.high.Load()
		if now <= high || m.high.CompareAndSwap(high, now) {
			return
		}
	}
}

func (m *watermark) leave() { m.now.Add(-1) }

// reset returns the most there was and begins anew with what there is.
func (m *watermark) reset() int64 { return m.high.Swap(m.now.Load()) }
