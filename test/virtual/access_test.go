package virtual

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// access is who may look where, and what those read who may not.
var access = map[string]behavior{
	"Content": {
		reason: "without apiexports/content nothing is allowed, in the words that all refusals have",
		test: func(t *testing.T, s *suite) {
			for _, in := range []place{everywhere, s.first, s.third, {name: "nowhere"}} {
				_, err := list(t.Context(), s.through(t, visiting, in), cowboys)
				wantCode(t, err, http.StatusForbidden)
				want := `cowboys.wildwest.dev is forbidden: User "user-3" cannot list resource "cowboys" in API group "wildwest.dev" at the cluster scope: access denied`
				if err.Error() != want {
					t.Errorf("got %q, want %q", err, want)
				}
			}
		},
	},
	"Verbs": {
		reason: "the verb on apiexports/content is that of the request",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, looking, s.first)
			_, err := list(t.Context(), client, cowboys)
			must(t, err)
			_, err = client.Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("refused", ""), metav1.CreateOptions{})
			wantCode(t, err, http.StatusForbidden, "access denied")
		},
	},
	"Unbound": {
		reason: "a cluster that has not bound the export is out of reach, by id and by path, as one that does not exist",
		test: func(t *testing.T, s *suite) {
			byPath := s.third
			byPath.name = s.third.path
			var texts []string
			for _, in := range []place{s.third, byPath, {name: "nowhere"}, {name: "root:nowhere"}, {name: "root"}, {name: "system:admin"}} {
				client := s.through(t, providing, in)
				_, err := list(t.Context(), client, cowboys)
				wantCode(t, err, http.StatusForbidden, "access denied")
				texts = append(texts, err.Error())
				_, err = client.Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("refused", ""), metav1.CreateOptions{})
				wantCode(t, err, http.StatusForbidden, "access denied")
				_, err = client.Resource(apibindings).Get(t.Context(), "wild.west", metav1.GetOptions{})
				wantCode(t, err, http.StatusForbidden, "access denied")
			}
			for _, text := range texts {
				if text != texts[0] {
					t.Errorf("%q tells another thing than %q", text, texts[0])
				}
			}
			_, err := list(t.Context(), s.through(t, master, s.third), cowboys)
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Paths": {
		reason: "paths are accepted beside names, in both places",
		test: func(t *testing.T, s *suite) {
			config := s.server.As(t, providing, "root")
			config.Host = s.server.URL() + "/services/apiexport/" + s.provider.path + "/wild.west/clusters/" + s.first.path
			_, err := list(t.Context(), newClient(t, config), cowboys)
			must(t, err)
		},
	},
	"Exports": {
		reason: "an export that is not there, and one without identity, is refused to users and not found by masters",
		test: func(t *testing.T, s *suite) {
			for _, config := range []string{
				services(s.provider, "none", everywhere), services(s.second, "wild.west", everywhere),
				services(place{name: "root:nowhere"}, "wild.west", everywhere),
			} {
				for token, code := range map[string]int{providing: http.StatusForbidden, master: http.StatusNotFound} {
					for _, path := range []string{"/apis/wildwest.dev/v1/cowboys", "/apis", "/openapi/v3"} {
						if got, body := s.get(t, token, config+path); got != code {
							t.Errorf("%s as %s: %d %s, want %d", config+path, token, got, body, code)
						}
					}
				}
			}
		},
	},
	"Malformed": {
		reason: "what is no virtual workspace is refused to users, and not found by masters",
		test: func(t *testing.T, s *suite) {
			for _, path := range []string{
				"/services/", "/services/x", "/services/apiexport", "/services/apiexport/", "/services/apiexport/root",
				"/services/apiexport/" + s.provider.name + "/wild.west", "/services/apiexport/" + s.provider.name + "/wild.west/",
				"/services/apiexport/" + s.provider.name + "/wild.west/clusters", "/services/apiexport/" + s.provider.name + "/wild.west/apis",
				"/services/apiexport/" + s.provider.name + "/wild.west/clusters/A/apis", "/services/other/root/x/clusters/*/apis",
			} {
				for token, code := range map[string]int{providing: http.StatusForbidden, master: http.StatusNotFound, "": http.StatusForbidden} {
					got, body := s.get(t, token, path)
					var status metav1.Status
					if err := json.Unmarshal([]byte(body), &status); err != nil || got != code {
						t.Errorf("%s as %q: %d %s, want the Status %d", path, token, got, body, code)
					}
					if token != "" && !strings.Contains(status.Message, "Path not resolved to a valid virtual workspace") {
						t.Errorf("%s as %q: %s", path, token, status.Message)
					}
				}
			}
		},
	},
	"Process": {
		reason: "what the process tells of itself is not told below a virtual workspace",
		test: func(t *testing.T, s *suite) {
			for path, code := range map[string]int{
				"/version": http.StatusOK, "/healthz": http.StatusOK, "/readyz": http.StatusOK,
				"/metrics": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound, "/": http.StatusNotFound,
				"/clusters/root/api/v1/secrets": http.StatusNotFound, "/services/apiexport": http.StatusNotFound,
				"/openapi/v2": http.StatusNotFound,
			} {
				for _, in := range []place{everywhere, s.first} {
					if got, body := s.get(t, providing, services(s.provider, "wild.west", in)+path); got != code {
						t.Errorf("%s in %s: %d %s, want %d", path, in.name, got, body, code)
					}
				}
			}
		},
	},
	"Anonymous": {
		reason: "nothing is served before authentication, and nothing to those who have none",
		test: func(t *testing.T, s *suite) {
			for _, in := range []place{everywhere, s.first, s.third} {
				for _, path := range []string{"/apis/wildwest.dev/v1/cowboys", "/api/v1/configmaps", "/apis", "/openapi/v3", "/version"} {
					for token, code := range map[string]int{"": http.StatusForbidden, "invalid": http.StatusUnauthorized} {
						if got, body := s.get(t, token, services(s.provider, "wild.west", in)+path); got != code {
							t.Errorf("%s with token %q: %d %s, want %d", path, token, got, body, code)
						}
					}
				}
			}
		},
	},
	"Impersonation": {
		reason: "whom a provider lets impersonate counts as the other one at the provider, and a consumer's admin nowhere",
		test: func(t *testing.T, s *suite) {
			config := s.config(t, consuming, s.provider, "wild.west", s.first)
			config.Impersonate.UserName = providingName
			_, err := list(t.Context(), newClient(t, config), cowboys)
			wantCode(t, err, http.StatusForbidden)

			mustCreate(t, s.admin(t, s.provider).Resource(clusterrole), map[string]any{
				"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "impersonating"},
				"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"users"}, "verbs": []any{"impersonate"}}},
			})
			s.grant(t, s.provider, "impersonating", visitingName)
			config = s.config(t, visiting, s.provider, "wild.west", s.first)
			config.Impersonate.UserName = providingName
			eventuallyAllowed(t, func() error {
				_, err := list(t.Context(), newClient(t, config), cowboys)
				return err
			})
		},
	},
}

// get reads a path as a user and returns the code and the body.
func (s *suite) get(t *testing.T, token, path string) (int, string) {
	t.Helper()
	return s.do(t, token, http.MethodGet, path, "", "")
}

func (s *suite) do(t *testing.T, token, method, path, contentType, body string) (int, string) {
	t.Helper()
	config := s.server.As(t, token, "root")
	client, err := newHTTPClient(config)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, s.server.URL()+path, strings.NewReader(body))
	must(t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	response, err := client.Do(req)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(content)
}
