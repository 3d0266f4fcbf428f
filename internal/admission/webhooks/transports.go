package webhooks

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// largestAnswer is how many bytes of an answer are read. An answer is a patch of one
// object, and no object is stored that is half as large.
const largestAnswer = 8 << 20

// mostKept is how many transports of a cluster are remembered, to be closed with the
// last configuration. Upstream keeps fewer clients.
const mostKept = 256

var errTooLarge = errors.New("the answer of the webhook is too large")

// transports are the connections of one cluster to its webhooks.
type transports struct {
	ctx context.Context

	mu  sync.Mutex
	all []http.RoundTripper
}

// newTransports returns transports that are closed when ctx ends.
func newTransports(ctx context.Context) *transports {
	t := &transports{ctx: ctx}
	context.AfterFunc(ctx, t.close)
	return t
}

// wrap returns a resolver whose clients have transports of their own.
func (t *transports) wrap(resolver webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver {
	return &webhookutil.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return t.own(resolver.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return t.own(resolver.ClientConfigForService(name, namespace, port))
		},
	}
}

func (t *transports) own(config *rest.Config, err error) (*rest.Config, error) {
	if err != nil {
		return nil, err
	}
	// client-go keeps the transports of the process in a cache, but for those with a
	// proxy function, since it cannot tell whether two are the same. This one is what
	// it would take without.
	config.Proxy = http.ProxyFromEnvironment
	config.Wrap(t.keep)
	return config, nil
}

// keep remembers a transport.
func (t *transports) keep(next http.RoundTripper) http.RoundTripper {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == mostKept {
		// Whoever still uses it opens another connection.
		utilnet.CloseIdleConnectionsFor(t.all[0])
		t.all = t.all[1:]
	}
	t.all = append(t.all, next)
	return &transport{next: next, ctx: t.ctx}
}

// close closes all connections that nobody uses. Those that are in use are closed after
// their answer.
func (t *transports) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, next := range t.all {
		utilnet.CloseIdleConnectionsFor(next)
	}
	t.all = nil
}

// transport is a transport that belongs to a cluster.
type transport struct {
	next http.RoundTripper
	ctx  context.Context
}

// WrappedRoundTripper returns the transport behind.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip asks, and reads no more than a reasonable answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &answer{ReadCloser: response.Body, left: largestAnswer, transport: t}
	return response, nil
}

// answer is the body of a response.
type answer struct {
	io.ReadCloser
	left      int64
	transport *transport
}

// Read returns an error where the answer is larger than it may be.
func (a *answer) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > a.left {
		p = p[:a.left]
	}
	n, err := a.ReadCloser.Read(p)
	a.left -= int64(n)
	return n, err
}

// Close gives the connection back, or up if it will not be needed again.
func (a *answer) Close() error {
	err := a.ReadCloser.Close()
	if a.transport.ctx.Err() != nil {
		utilnet.CloseIdleConnectionsFor(a.transport.next)
	}
	return err
}
