package route

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestWithIdentity(t *testing.T) {
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	for name, tc := range map[string]struct {
		reason   string
		path     string
		resource string
		identity string
		object   string
		sub      string
		code     int
	}{
		"None":        {"most requests name none", "/apis/example.com/v1/widgets", "widgets", "", "", "", http.StatusOK},
		"Identity":    {"what is behind the colon is the identity", "/apis/example.com/v1/widgets:abc", "widgets", "abc", "", "", http.StatusOK},
		"Object":      {"also of a single object", "/apis/example.com/v1/widgets:abc/w", "widgets", "abc", "w", "", http.StatusOK},
		"Namespaced":  {"also in a namespace", "/apis/example.com/v1/namespaces/default/widgets:abc/w/status", "widgets", "abc", "w", "status", http.StatusOK},
		"Core":        {"also in the core group", "/api/v1/services:abc", "services", "abc", "", "", http.StatusOK},
		"NameOfRole":  {"names may have colons", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:admin", "clusterroles", "", "system:admin", "", http.StatusOK},
		"NoResource":  {"a path is no resource", "/healthz/widgets:abc", "", "", "", "", http.StatusOK},
		"Empty":       {"an identity is not empty", "/apis/example.com/v1/widgets:", "widgets", "", "", "", http.StatusBadRequest},
		"EmptyBefore": {"nor is a resource", "/apis/example.com/v1/:abc", "", "", "", "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var info *request.RequestInfo
			identity := ""
			handler := WithIdentity(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				info, _ = request.RequestInfoFrom(r.Context())
				identity, _ = Identity(r.Context())
			}), scheme.Codecs)
			recorder := httptest.NewRecorder()
			filters.WithRequestInfo(handler, resolver).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, tc.path, nil))
			if recorder.Code != tc.code {
				t.Fatalf("%s: code %d: %s", tc.reason, recorder.Code, recorder.Body)
			}
			if tc.code != http.StatusOK {
				return
			}
			if info.Resource != tc.resource || identity != tc.identity || info.Name != tc.object || info.Subresource != tc.sub {
				t.Errorf("%s: got %+v with identity %q", tc.reason, info, identity)
			}
			if len(info.Parts) > 0 && info.Parts[0] != tc.resource {
				t.Errorf("%s: the parts of the path are %q", tc.reason, info.Parts)
			}
		})
	}
}
