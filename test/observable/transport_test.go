package observable

import "net/http"

// deepReviews asks for reviews that look behind the gates of a workspace.
type deepReviews struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d deepReviews) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Kcp-Internal-Deep-SubjectAccessReview", "true")
	return d.next.RoundTrip(r)
}
