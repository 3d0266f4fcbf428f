package route

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// startingRetry is how many seconds clients are told to wait for a server that is starting.
const startingRetry = 1

// WithoutStarting asks clients to come again, with 503 and Retry-After, until settled is
// closed. Before, paths do not lead where they lead, policies are not known, and neither is
// what workspaces have bound: whatever an answer said, it might be wrong. What is in no
// workspace is served at once, health checks above all.
func WithoutStarting(next http.Handler, settled <-chan struct{}, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-settled:
		default:
			if isOfWorkspaces(r.URL.Path) {
				writeError(w, r, errorCodec, starting())
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isOfWorkspaces says whether what is at a path depends on workspaces. Service accounts may
// leave out where they are.
func isOfWorkspaces(path string) bool {
	for _, prefix := range []string{"/clusters", "/services", "/api", "/apis", "/openapi"} {
		rest, ok := strings.CutPrefix(path, prefix)
		if ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

func starting() error {
	err := apierrors.NewServiceUnavailable("the server is starting")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: startingRetry}
	return err
}
