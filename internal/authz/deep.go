package authz

import (
	"context"
	"net/http"

	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
)

// DeepReviewHeader is the header that, set to "true", asks a SubjectAccessReview for what the policy
// alone says, without required groups and access to the workspace. Only privileged
// callers are listened to.
const DeepReviewHeader = "X-Kcp-Internal-Deep-SubjectAccessReview"

type deepKey struct{}

func withDeep(ctx context.Context) context.Context {
	return context.WithValue(ctx, deepKey{}, true)
}

func isDeep(ctx context.Context) bool {
	deep, _ := ctx.Value(deepKey{}).(bool)
	return deep
}

// WithDeepReviews is a filter that obeys DeepReviewHeader. It belongs behind
// authorization, where the caller and the resource are known, and before the
// resources: the review is deep then, not the request that brings it.
func WithDeepReviews(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if wantsDeepReview(req) {
			req = req.WithContext(withDeep(req.Context()))
		}
		handler.ServeHTTP(w, req)
	})
}

func wantsDeepReview(req *http.Request) bool {
	if req.Header.Get(DeepReviewHeader) != "true" {
		return false
	}
	u, ok := genericrequest.UserFrom(req.Context())
	if !ok || !identity.IsMaster(u) {
		return false
	}
	info, ok := genericrequest.RequestInfoFrom(req.Context())
	return ok && info.IsResourceRequest && info.APIGroup == "authorization.k8s.io" && info.Resource == "subjectaccessreviews"
}
