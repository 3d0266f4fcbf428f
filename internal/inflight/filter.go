// Package inflight bounds how many requests are served at a time.
//
// There is one bound for everybody, and no queue: a request beyond it is answered with
// 429 and told to come back in a second. The privileged (system:masters) are not counted
// and never refused, and neither are requests that run for long, such as watches.
//
// Workspaces share the bound: requests for one of them may hold no more seats than are
// free. So one workspace alone gets half of the seats, and n that take all they can leave
// as many free for others as each of them has: whoever waits for webhooks that do not
// answer is refused in his own workspaces, and a workspace without requests always finds
// a seat before the bound is reached. Nothing is remembered of workspaces without requests.
package inflight

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// retryAfter is how many seconds those that are refused are asked to wait.
const retryAfter = "1"

var readingVerbs = sets.New("get", "list", "watch")

// Limit is a bound and how much of it is taken. Its methods may be called concurrently.
type Limit struct {
	seats int

	mu    sync.Mutex
	taken int
	// of is how many of the seats each cluster has taken. Those without any are not in it.
	of map[logicalcluster.Name]int

	reading, writes watermark
}

// NewLimit returns a bound of so many requests.
func NewLimit(seats int) *Limit {
	return &Limit{seats: seats, of: map[logicalcluster.Name]int{}}
}

// take takes a seat for a request to a cluster, and says whether there was one for it.
// Requests to no cluster, the zero Name, share with nobody.
func (l *Limit) take(cluster logicalcluster.Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if free := l.seats - l.taken; free <= 0 || !cluster.Empty() && l.of[cluster] >= free {
		return false
	}
	l.taken++
	if !cluster.Empty() {
		l.of[cluster]++
	}
	return true
}

// leave gives a seat back.
func (l *Limit) leave(cluster logicalcluster.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	switch l.of[cluster] {
	case 0:
	case 1:
		delete(l.of, cluster)
	default:
		l.of[cluster]--
	}
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
		cluster, _ := logicalcluster.FromContext(r.Context())
		if !limit.take(cluster) {
			metrics.RecordDroppedRequest(r, info, metrics.APIServerComponent, mutating)
			metrics.RecordRequestTermination(r, info, metrics.APIServerComponent, http.StatusTooManyRequests)
			w.Header().Set("Retry-After", retryAfter)
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		defer limit.leave(cluster)
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
