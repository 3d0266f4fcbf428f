package route_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/forkless/kcp/internal/route"
)

// TestWithoutStarting: as long as the server does not know who may do what, nobody is told
// that he may not, nor that there is nothing.
func TestWithoutStarting(t *testing.T) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	settled := make(chan struct{})
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	handler := route.WithoutStarting(next, settled, serializer.NewCodecFactory(scheme))
	get := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return answer
	}
	paths := map[string]struct {
		reason string
		want   int
	}{
		"/clusters/root:org/api/v1/configmaps":                {"a workspace", http.StatusServiceUnavailable},
		"/clusters/root/readyz":                               {"whatever is asked of it", http.StatusServiceUnavailable},
		"/services/initializingworkspaces/root:a/clusters/*/": {"a virtual workspace", http.StatusServiceUnavailable},
		"/api/v1/secrets":                                     {"service accounts leave out where they are", http.StatusServiceUnavailable},
		"/apis":                                               {"service accounts leave out where they are", http.StatusServiceUnavailable},
		"/openapi/v3":                                         {"service accounts leave out where they are", http.StatusServiceUnavailable},
		"/livez":                                              {"the process is alive", http.StatusNoContent},
		"/readyz/kcp-start-controllers":                       {"this says what is waited for", http.StatusNoContent},
		"/metrics":                                            {"the process", http.StatusNoContent},
		"/version":                                            {"the process", http.StatusNoContent},
		"/apisx":                                              {"no API", http.StatusNoContent},
	}
	for path, tc := range paths {
		answer := get(path)
		if answer.Code != tc.want {
			t.Errorf("%s: %s: want %d, got %d", path, tc.reason, tc.want, answer.Code)
		}
		if tc.want != http.StatusServiceUnavailable {
			continue
		}
		var status metav1.Status
		if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || status.Reason != metav1.StatusReasonServiceUnavailable {
			t.Errorf("%s: want a Status, got %s", path, answer.Body)
		}
		if answer.Header().Get("Retry-After") == "" {
			t.Errorf("%s: clients are not told to come again", path)
		}
	}
	close(settled)
	for path := range paths {
		if answer := get(path); answer.Code != http.StatusNoContent {
			t.Errorf("%s: want to get through to a server that has started, got %d", path, answer.Code)
		}
	}
}
