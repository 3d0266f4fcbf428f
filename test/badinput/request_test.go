package badinput

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	asJSON  = "application/json"
	asYAML  = "application/yaml"
	proto   = "application/vnd.kubernetes.protobuf"
	merge   = "application/merge-patch+json"
	jsonOps = "application/json-patch+json"
	apply   = "application/apply-patch+yaml"

	// secret is in an object of the workspace that no case may look into.
	secret = "treasure"
)

// request is one request and its answer.
type request struct {
	reason string
	// token is the caller's: user of the workspace if empty, nobody if "none".
	token string
	// method is GET if empty. path is sent as it is.
	method, path string
	contentType  string
	accept       string
	header       map[string]string
	body         string

	code int
	// status is the reason of the Status; of answers in plain text it is empty.
	status metav1.StatusReason
	// message is part of the answer.
	message string
	// plain says that the answer is no Status.
	plain bool
}

// send sends the request and compares the answer.
func (s *suite) send(t *testing.T, r request) {
	t.Helper()
	code, contentType, body := s.do(t, r)
	if code != r.code {
		t.Fatalf("%s:\nwant code %d, got %d: %s", r.reason, r.code, code, shorten(body))
	}
	if !strings.Contains(string(body), r.message) {
		t.Errorf("%s:\nwant %q in: %s", r.reason, r.message, shorten(body))
	}
	if r.plain || code < http.StatusBadRequest {
		return
	}
	status := metav1.Status{}
	if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" || !strings.HasPrefix(contentType, asJSON) {
		t.Fatalf("%s:\nwant a Status, got %s: %s", r.reason, contentType, shorten(body))
	}
	if status.Reason != r.status || int(status.Code) != code {
		t.Errorf("%s:\nwant reason %q and code %d in the Status, got %q and %d: %s", r.reason, r.status, code, status.Reason, status.Code, shorten(body))
	}
}

// do sends the request and returns the answer, after a look at what no answer may be.
func (s *suite) do(t *testing.T, r request) (code int, contentType string, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), orDefault(r.method, http.MethodGet), s.server.URL(), bytes.NewBufferString(r.body))
	if err != nil {
		t.Fatal(err)
	}
	// Nothing may be made nicer on the way.
	path, query, _ := strings.Cut(r.path, "?")
	req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Opaque: path, RawQuery: query}
	if token := orDefault(r.token, user); token != nobody {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if r.accept != "" {
		req.Header.Set("Accept", r.accept)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	response, err := s.client.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", r.reason, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: reading the answer: %v", r.reason, err)
	}
	if response.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s:\nbad input is no internal error: %s", r.reason, shorten(body))
	}
	if stranger := r.token != owner && r.token != privileged; stranger && s.tellsOfForeign(r, body) {
		t.Errorf("%s:\nthe answer tells of another workspace: %s", r.reason, shorten(body))
	}
	return response.StatusCode, response.Header.Get("Content-Type"), body
}

// tellsOfForeign says whether an answer has something of the workspace other that the
// request has not.
func (s *suite) tellsOfForeign(r request, answer []byte) bool {
	for _, text := range []string{secret, s.foreign} {
		if text != "" && bytes.Contains(answer, []byte(text)) && !strings.Contains(r.path+r.body, text) {
			return true
		}
	}
	return false
}

// table sends each request of a table.
func (s *suite) table(t *testing.T, requests map[string]request) {
	for name, r := range requests {
		t.Run(name, func(t *testing.T) { s.send(t, r) })
	}
}

func newClient(config *rest.Config) (*http.Client, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: transport,
		Timeout:   time.Minute,
		// A redirect is an answer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

func shorten(body []byte) string {
	const most = 600
	if len(body) > most {
		return string(body[:most]) + "…"
	}
	return string(body)
}
