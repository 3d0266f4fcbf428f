package tui

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
)

const (
	// reported is how often requests are told, so that a burst of them is one message.
	reported = 200 * time.Millisecond
	// mostPending bounds the requests that nobody has fetched.
	mostPending = 500
)

// Requests remembers requests until they are shown. It keeps what a request was for and
// what came of it, nothing that was in it.
type Requests struct {
	mu      sync.Mutex
	pending []model.Request
}

// Wrap returns a transport that is remembered.
func (r *Requests) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		began := time.Now()
		response, err := next.RoundTrip(request)
		entry := model.Request{At: began, Method: request.Method, Path: display.Line(request.URL.RequestURI()), Took: time.Since(began)}
		if err != nil {
			entry.Problem = run.Message(err)
		} else {
			entry.Status = response.StatusCode
		}
		r.add(entry)
		return response, err
	})
}

// roundTripper is a transport that is a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *Requests) add(entry model.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == mostPending {
		r.pending = r.pending[1:]
	}
	r.pending = append(r.pending, entry)
}

func (r *Requests) take() []model.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.pending
	r.pending = nil
	return taken
}

// report tells emit what was requested, until ctx is done.
func (r *Requests) report(ctx context.Context, emit func(model.Msg)) {
	ticker := time.NewTicker(reported)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if taken := r.take(); len(taken) > 0 {
				emit(model.Requested(taken))
			}
		}
	}
}
