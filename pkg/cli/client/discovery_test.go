package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// answering returns a client of a server that has an answer for some paths.
func answering(t *testing.T, answers map[string]string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[strings.TrimSuffix(r.URL.Path+"?"+r.URL.Query().Get("continue"), "?")]
		w.Header().Set("Content-Type", "application/json")
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
		} else if strings.Contains(answer, `"reason":"Forbidden"`) {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{}, server.URL, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCount(t *testing.T) {
	const group = `{"versions": [{"version": "v2"}, {"version": "v1"}]}`
	cases := map[string]struct {
		reason   string
		resource schema.GroupResource
		answers  map[string]string
		want     int
		absent   bool
	}{
		"Core": {
			reason: "the core group has a path of its own", resource: schema.GroupResource{Resource: "secrets"},
			answers: map[string]string{"/clusters/root/api/v1/secrets": `{"items": [{}, {}]}`}, want: 2,
		},
		"Remaining": {
			reason: "what a server knows need not be read", resource: schema.GroupResource{Resource: "secrets"},
			answers: map[string]string{"/clusters/root/api/v1/secrets": `{"metadata": {"continue": "x", "remainingItemCount": 40}, "items": [{}, {}]}`}, want: 42,
		},
		"Pages": {
			reason: "what it does not say is read to the end", resource: schema.GroupResource{Resource: "secrets"},
			answers: map[string]string{
				"/clusters/root/api/v1/secrets":   `{"metadata": {"continue": "x"}, "items": [{}, {}]}`,
				"/clusters/root/api/v1/secrets?x": `{"items": [{}]}`,
			}, want: 3,
		},
		"Versions": {
			reason: "not every version of a group has every resource", resource: schema.GroupResource{Group: "a.io", Resource: "things"},
			answers: map[string]string{"/clusters/root/apis/a.io": group, "/clusters/root/apis/a.io/v1/things": `{"items": [{}]}`}, want: 1,
		},
		"Absent": {
			reason: "what no version has cannot be counted", resource: schema.GroupResource{Group: "a.io", Resource: "things"},
			answers: map[string]string{"/clusters/root/apis/a.io": group}, absent: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := answering(t, tc.answers).Count(t.Context(), logicalcluster.Root.Path(), tc.resource)
			if apierrors.IsNotFound(err) != tc.absent || err == nil == tc.absent || got != tc.want {
				t.Errorf("%s: counted %d (%v), want %d", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestWithoutWorkspaces: definitions come from any server.
func TestWithoutWorkspaces(t *testing.T) {
	c := answering(t, map[string]string{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": `{"items": [{"metadata": {"name": "a"}}]}`})
	definitions, err := c.Definitions(t.Context(), logicalcluster.Path{})
	if err != nil || len(definitions) != 1 || definitions[0].Name != "a" {
		t.Errorf("got %v (%v)", definitions, err)
	}
}
