package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// minWatchGrace is how long watches have at least to end in order, which takes them no
// time unless a client does not read. Upstream would not wait for them at all without a
// grace period, nor for the last word about them in the audit log.
const minWatchGrace = 2 * time.Second

// The end of a server, in order:
//
//  1. It is told to stop: /readyz fails, and everything is served on for the delay of
//     the options, in which load balancers find other servers.
//  2. stopping is closed. New requests are refused, those under way finish, watches end:
//     in the grace period by themselves, after it by force.
//  3. When no request is left the audit log is written to its end, the controllers stop,
//     and the stores are closed.
//  4. etcd stops last (Server.Close).

// signal is closed once. It is what upstream's watches look at.
type signal struct {
	once sync.Once
	done chan struct{}
}

func newSignal() *signal { return &signal{done: make(chan struct{})} }

// ShuttingDown is closed when no new requests are served.
func (s *signal) ShuttingDown() <-chan struct{} { return s.done }

func (s *signal) fire() { s.once.Do(func() { close(s.done) }) }

// addShutdown makes stopping part of how the server ends. Upstream waits for its hooks,
// and for the same delay, before it refuses requests.
func (s *Server) addShutdown() error {
	// It comes before the groups are installed: what was registered first ends first,
	// and controllers need the stores.
	s.generic.RegisterDestroyFunc(s.controllerWork.stop)
	return s.generic.AddPreShutdownHook("kcp-end-requests", func() error {
		time.Sleep(s.options.Shutdown.Delay)
		s.stopping.fire()
		return nil
	})
}

// watchGracePeriod is how long watches have to end by themselves.
func (s *Server) watchGracePeriod() time.Duration {
	return max(s.options.Shutdown.WatchGracePeriod, minWatchGrace)
}

// listener is what the server listens to.
func (s *Server) listener() net.Listener {
	if s.callers != nil {
		return s.callers
	}
	return s.options.Listener
}

// withCallers counts requests where somebody has to know of them when the server stops.
func (s *Server) withCallers(handler http.Handler) http.Handler {
	if s.callers != nil {
		return s.callers.with(handler)
	}
	return handler
}

// endWatches ends what runs for long when the server stops and the time is over that
// the options leave it. Stopping waits for all other requests, and would for these. It
// hangs up on callers who are not waited for.
func (s *Server) endWatches(ctx context.Context) {
	select {
	case <-s.stopping.ShuttingDown():
	case <-ctx.Done():
		return
	}
	var background sync.WaitGroup
	defer background.Wait()
	if s.callers != nil {
		background.Go(func() { s.callers.hangUp(ctx) })
	}
	select {
	case <-time.After(s.watchGracePeriod()):
		s.connections.Close()
	case <-ctx.Done():
	}
}

// endUnused ends the server if nobody uses it for as long as the options say.
func (s *Server) endUnused(ctx context.Context, stop func()) {
	limit := s.options.Shutdown.Idle
	if limit == 0 || waitFor(ctx, s.ready) != nil {
		return
	}
	if s.use.Ended(ctx, limit) {
		stop()
	}
}

// work is a set of goroutines that are stopped together. None is started any more when
// they have been.
type work struct {
	mu      sync.Mutex
	stopped bool
	cancels []context.CancelFunc
	running sync.WaitGroup
}

// start runs do with a context that ends at stop, and has the values of ctx.
func (w *work) start(ctx context.Context, do func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.cancels = append(w.cancels, cancel)
	w.running.Go(func() { do(ctx) })
}

// atStop has something called at stop, as if it was the end of a goroutine.
func (w *work) atStop(cancel context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancels = append(w.cancels, cancel)
}

// stop ends all that was started and waits until it has.
func (w *work) stop() {
	w.mu.Lock()
	w.stopped = true
	for _, cancel := range w.cancels {
		cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
}
