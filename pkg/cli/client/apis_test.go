package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestAPIsNotFound: "not found" has two reasons, and only one of them is mended by
// another server.
func TestAPIsNotFound(t *testing.T) {
	cases := map[string]struct {
		reason  string
		details string
		want    string
	}{
		"Workspace": {
			reason:  "a mistyped path is no fault of the server",
			details: `{"group": "tenancy.kcp.io", "kind": "workspaces", "name": "root:nope"}`,
			want:    `workspace "root:nope" not found`,
		},
		"Group": {
			reason:  "a server that answers for the workspace may lack the group",
			details: `{"causes": [{"reason": "UnexpectedServerResponse", "message": "404 page not found"}]}`,
			want:    "this server does not serve the API group apis.kcp.io in root:nope",
		},
		"Bare": {
			reason:  "details are optional",
			details: `null`,
			want:    "this server does not serve the API group apis.kcp.io in root:nope",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "details": %s}`, tc.details)
			}))
			t.Cleanup(server.Close)
			c, err := New(&rest.Config{}, server.URL, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.APIs(t.Context(), logicalcluster.MustParsePath("root:nope"))
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
