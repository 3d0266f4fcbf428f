package client

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		body   string
		is     func(error) bool
		text   string
	}{
		"Status": {
			reason: "what the server says is quoted",
			status: 403, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"workspaces is forbidden: no","reason":"Forbidden","code":403}`,
			is: apierrors.IsForbidden, text: "workspaces is forbidden: no",
		},
		"PlainText": {
			reason: "parts of a server answer in plain text",
			status: 503, body: "Not available.",
			is: apierrors.IsServiceUnavailable, text: "the server is currently unable to handle the request",
		},
		"NotJSON": {
			reason: "what answers may be no API at all",
			status: 200, body: "<html>",
			is: func(err error) bool { return err != nil }, text: "the server's answer is not the JSON of a Kubernetes API: invalid character '<' looking for beginning of value",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var request *http.Request
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				request = r
				if strings.HasPrefix(tc.body, "{") {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			c, err := New(&rest.Config{}, server.URL+"/prefix", t.Output())
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Workspace(t.Context(), logicalcluster.MustParsePath("root:a"), "b")
			if !tc.is(err) || err.Error() != tc.text {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.text)
			}
			if got, want := request.URL.Path, "/prefix/clusters/root:a/apis/tenancy.kcp.io/v1alpha1/workspaces/b"; got != want {
				t.Errorf("the request went to %s, want %s", got, want)
			}
			if agent := request.UserAgent(); !regexp.MustCompile(`^\S+/\S+ \(\w+/\w+\) kubernetes/\S+$`).MatchString(agent) {
				t.Errorf("the user agent is %q", agent)
			}
		})
	}
}
