// Package webhooktest runs webhooks inside tests: an HTTPS server with a certificate of
// its own that answers admission reviews, and remembers them.
package webhooktest

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Answer says what a webhook answers. The UID is filled in for it.
type Answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Review is an admission review as it was sent.
type Review struct {
	// APIVersion is that of the review.
	APIVersion string
	Request    *admissionv1.AdmissionRequest
}

// Server is a server with webhooks, each at a path of its own.
type Server struct {
	http *httptest.Server

	mu      sync.Mutex
	reviews map[string][]Review
	raw     map[string]http.HandlerFunc
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{reviews: map[string][]Review{}, raw: map[string]http.HandlerFunc{}}
	s.http = httptest.NewUnstartedServer(s)
	s.http.EnableHTTP2 = true
	s.http.StartTLS()
	t.Cleanup(s.http.Close)
	return s
}

// CABundle is what the certificate of the server is checked with.
func (s *Server) CABundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.http.Certificate().Raw})
}

// URL returns the address of the webhook at path.
func (s *Server) URL(path string) string { return s.http.URL + path }

// Client returns how the webhook at path is called.
func (s *Server) Client(path string) admissionregistrationv1.WebhookClientConfig {
	address := s.URL(path)
	return admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: s.CABundle()}
}

// Handle makes answer the webhook at path.
func (s *Server) Handle(path string, answer Answer) {
	s.HandleRaw(path, func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "this is no admission review", http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.reviews[path] = append(s.reviews[path], Review{APIVersion: review.APIVersion, Request: review.Request})
		s.mu.Unlock()
		response := answer(review.Request)
		response.UID = review.Request.UID
		review.Request, review.Response = nil, response
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	})
}

// HandleRaw makes handler serve path. Nothing is remembered of what it is asked.
func (s *Server) HandleRaw(path string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw[path] = handler
}

// Reviews returns what the webhook at path has been asked.
func (s *Server) Reviews(path string) []Review {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reviews[path]
}

// ServeHTTP answers what was to be answered at a path, and 404 at others.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	handler, ok := s.raw[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	handler(w, r)
}

// Object returns the new object of a request, or the old one if there is none.
func Object(t testing.TB, request *admissionv1.AdmissionRequest) *unstructured.Unstructured {
	t.Helper()
	raw := request.Object.Raw
	if len(raw) == 0 {
		raw = request.OldObject.Raw
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Errorf("reading the object of a review: %v", err)
	}
	return u
}
