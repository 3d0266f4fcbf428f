package serviceaccount

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
)

// unsigned returns a token with those claims that nobody has signed.
func unsigned(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestWithHome(t *testing.T) {
	bound := unsigned(`{"kubernetes.io":{"clusterName":"abcdefgh1234"}}`)
	legacy := unsigned(`{"kubernetes.io/serviceaccount/clusterName":"abcdefgh1234"}`)
	for name, tc := range map[string]struct {
		reason                     string
		url, authorization, header string
		want                       string
	}{
		"Bound":     {"the claim of a requested token is a place", "/api/v1/pods?limit=1", "Bearer " + bound, "", "/clusters/abcdefgh1234/api/v1/pods?limit=1"},
		"Legacy":    {"the claim of a legacy token is a place", "/version", "Bearer " + legacy, "", "/clusters/abcdefgh1234/version"},
		"AnyCase":   {"the scheme is written in any case", "/version", "bearer " + bound, "", "/clusters/abcdefgh1234/version"},
		"Escaped":   {"what was escaped stays so", "/api/v1/a%2Fb", "Bearer " + bound, "", "/clusters/abcdefgh1234/api/v1/a%2Fb"},
		"Root":      {"the root of a server is one of a workspace", "/", "Bearer " + bound, "", "/clusters/abcdefgh1234/"},
		"Sharded":   {"whoever found the place already is believed", "/version", "Bearer " + bound, "1", "/version"},
		"Cluster":   {"a request that names a place is for that", "/clusters/root/version", "Bearer " + bound, "", "/clusters/root/version"},
		"Hidden":    {"a place that is spelled oddly is no reason to choose another", "/%63lusters/root/version", "Bearer " + bound, "", "/%63lusters/root/version"},
		"Service":   {"virtual workspaces have places of their own", "/services/a/b", "Bearer " + bound, "", "/services/a/b"},
		"Metrics":   {"metrics are nowhere but here", "/metrics", "Bearer " + bound, "", "/metrics"},
		"NoToken":   {"without a token there is no place", "/version", "", "", "/version"},
		"Basic":     {"other credentials are no tokens", "/version", "Basic " + bound, "", "/version"},
		"Static":    {"other tokens name no place", "/version", "Bearer user-1-token", "", "/version"},
		"NoClaim":   {"tokens of other issuers name no place", "/version", "Bearer " + unsigned(`{"iss":"https://a"}`), "", "/version"},
		"BadName":   {"what is no name of a cluster gets nowhere near a key", "/version", "Bearer " + unsigned(`{"kubernetes.io":{"clusterName":"../../etc"}}`), "", "/version"},
		"Wildcard":  {"nobody comes from everywhere", "/version", "Bearer " + unsigned(`{"kubernetes.io":{"clusterName":"*"}}`), "", "/version"},
		"Path":      {"a path is no name", "/version", "Bearer " + unsigned(`{"kubernetes.io":{"clusterName":"root:org"}}`), "", "/version"},
		"WrongType": {"claims are anything", "/version", "Bearer " + unsigned(`{"kubernetes.io":7}`), "", "/version"},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, http.NoBody)
			request.Header.Set("Authorization", tc.authorization)
			if tc.header != "" {
				request.Header.Set("X-Kubernetes-Sharded-Request", tc.header)
			}
			var got *http.Request
			WithHome(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r })).ServeHTTP(httptest.NewRecorder(), request)
			if got.URL.RequestURI() != tc.want || got.RequestURI != tc.want {
				t.Errorf("%s: got %s and %s, want %s", tc.reason, got.URL.RequestURI(), got.RequestURI, tc.want)
			}
			if request.URL.RequestURI() != tc.url {
				t.Errorf("%s: the request of others was changed to %s", tc.reason, request.URL.RequestURI())
			}
		})
	}
}

// FuzzClaimedCluster: whatever is sent as a token, only the name of a cluster comes out.
func FuzzClaimedCluster(f *testing.F) {
	for _, token := range []string{
		"", "a.b.c", unsigned(`{}`), unsigned(`{"kubernetes.io":{"clusterName":"abcdefgh1234"}}`), unsigned(`{"kubernetes.io":{"clusterName":"a/b"}}`),
		unsigned(`{"kubernetes.io/serviceaccount/clusterName":"system:admin"}`), unsigned(`[`), unsigned(`{"kubernetes.io":{"clusterName":"\u0000"}}`),
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		cluster, ok := ClaimedCluster(token)
		if ok == cluster.Empty() {
			t.Errorf("%q is said to be a name: %t", cluster, ok)
		}
		for _, r := range cluster.String() {
			if r == '/' || r == '*' || r == '\x00' {
				t.Errorf("%q came out of %q", cluster, token)
			}
		}
	})
}
