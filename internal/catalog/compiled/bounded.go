package compiled

import (
	"fmt"
	"io"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	// answerBytes is what a webhook may answer in any case, and answerGrowth how many
	// times larger than what it was asked the answer may be.
	answerBytes  = 8 << 20
	answerGrowth = 4
)

// idleTime is how long the connections to a webhook outlive their last use. Go keeps them
// for a minute and a half, and whoever edits his definition makes new ones each time.
const idleTime = 10 * time.Second

// boundedTripper cuts off answers that are far larger than the questions, and closes
// connections that are not used. The client above it reads an answer whole, into the
// memory that all workspaces have in common.
type boundedTripper struct {
	next http.RoundTripper
	// unused closes idle connections after some time.
	unused *time.Timer
}

func newBoundedTripper(next http.RoundTripper) *boundedTripper {
	unused := time.AfterFunc(idleTime, func() { utilnet.CloseIdleConnectionsFor(next) })
	unused.Stop()
	return &boundedTripper{next: next, unused: unused}
}

// RoundTrip implements http.RoundTripper.
func (b *boundedTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	limit := int64(answerBytes)
	if req.ContentLength > 0 {
		limit += answerGrowth * req.ContentLength
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, limit: limit, left: limit, closed: func() { b.unused.Reset(idleTime) }}
	return resp, nil
}

// WrappedRoundTripper implements the interface by which clients find what is wrapped.
func (b *boundedTripper) WrappedRoundTripper() http.RoundTripper { return b.next }

// boundedBody is a body that fails where it becomes too long.
type boundedBody struct {
	io.ReadCloser
	limit, left int64
	closed      func()
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	defer b.closed()
	return b.ReadCloser.Close()
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("the webhook answers with more than %d bytes", b.limit)
	}
	// One more than is left, so that an answer of just the limit is read to its end.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, fmt.Errorf("the webhook answers with more than %d bytes", b.limit)
	}
	return n, err
}
