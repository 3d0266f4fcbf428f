package compiled

import (
	"fmt"
	"io"
	"net/http"
)

const (
	// answerBytes is what a webhook may answer in any case, and answerGrowth how many
	// times larger than what it was asked the answer may be.
	answerBytes  = 8 << 20
	answerGrowth = 4
)

// boundedTripper cuts off answers that are far larger than the questions. The client
// above it reads an answer whole, into the memory that all workspaces have in common.
type boundedTripper struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b boundedTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	limit := int64(answerBytes)
	if req.ContentLength > 0 {
		limit += answerGrowth * req.ContentLength
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, limit: limit, left: limit}
	return resp, nil
}

// WrappedRoundTripper lets idle connections be closed through the wrapper.
func (b boundedTripper) WrappedRoundTripper() http.RoundTripper { return b.next }

// boundedBody is a body that fails where it becomes too long.
type boundedBody struct {
	io.ReadCloser
	limit, left int64
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
