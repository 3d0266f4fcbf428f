//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// operation is one request, or several that count as one. i tells operations of one
// load apart.
type operation func(ctx context.Context, c *client, i int) error

// result is what a load has measured.
type result struct {
	perSecond float64
	p50, p99  time.Duration
	// server and client are the processor time per operation.
	server, client time.Duration
	// share is how much of the processors both got.
	share float64
}

// load does n operations with several clients, each starting the next one when the
// last is done.
func (s *server) load(ctx context.Context, clients, n int, do operation) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait      sync.WaitGroup
		next      atomic.Int64
		durations = make([]time.Duration, n)
		failed    = make(chan error, clients)
	)
	connected, err := s.connect(ctx, clients)
	if err != nil {
		return result{}, err
	}
	usedByServer, usedByClient, err := s.used()
	if err != nil {
		return result{}, err
	}
	began := time.Now()
	for _, c := range connected {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				sent := time.Now()
				if err := do(ctx, c, i); err != nil {
					failed <- err
					cancel()
					return
				}
				durations[i] = time.Since(sent)
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	select {
	case err := <-failed:
		return result{}, err
	default:
	}
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	serverNow, clientNow, err := s.used()
	if err != nil {
		return result{}, err
	}
	r := result{
		perSecond: float64(n) / took.Seconds(),
		server:    (serverNow - usedByServer) / time.Duration(n),
		client:    (clientNow - usedByClient) / time.Duration(n),
		share:     float64(serverNow-usedByServer+clientNow-usedByClient) / float64(took) / float64(runtime.NumCPU()),
	}
	r.p50, r.p99 = percentiles(durations)
	return r, nil
}

// connect returns clients whose connections are open.
func (s *server) connect(ctx context.Context, n int) ([]*client, error) {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = s.admin.another()
		if _, err := clients[i].do(ctx, http.MethodGet, "/readyz", "", nil); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

// used returns the processor time of the server and of this program.
func (s *server) used() (server, client time.Duration, err error) {
	if server, err = processorTime(s.cmd.Process.Pid); err != nil {
		return 0, 0, err
	}
	client, err = processorTime(os.Getpid())
	return server, client, err
}

// rounds returns the result with the median rate of several.
func median(results []result) result {
	slices.SortFunc(results, func(a, b result) int { return cmp.Compare(a.perSecond, b.perSecond) })
	return results[len(results)/2]
}

func percentiles(durations []time.Duration) (p50, p99 time.Duration) {
	if len(durations) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[len(sorted)/2], sorted[min(len(sorted)*99/100, len(sorted)-1)]
}

// rate is how a rate stands in the table.
func (r result) rate() string { return fmt.Sprintf("%.0f/s", r.perSecond) }

// cost says what an operation took, for the last column of the table.
func (r result) cost() string {
	return fmt.Sprintf("p50 %s, p99 %s; processor time %s server, %s client; share %.0f %%",
		brief(r.p50), brief(r.p99), brief(r.server), brief(r.client), 100*r.share)
}

func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(10 * time.Microsecond).String()
	}
}
