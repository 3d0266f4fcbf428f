package route

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// identitySeparator is what stands between a resource and the identity of the export that
// it is bound from, as in /apis/example.com/v1/widgets:<identity>.
const identitySeparator = ":"

type identityKey struct{}

// Identity returns the identity hash that the request of ctx names beside its resource. ok
// is false if it names none.
func Identity(ctx context.Context) (identityHash string, ok bool) {
	identityHash, ok = ctx.Value(identityKey{}).(string)
	return identityHash, ok
}

// WithIdentity takes the identity off the resource of a request and puts it into the
// context. What comes later, authorization above all, sees the resource by its name. It
// comes right behind the request info, of which it makes another.
func WithIdentity(next http.Handler, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok || !info.IsResourceRequest || !strings.Contains(info.Resource, identitySeparator) {
			next.ServeHTTP(w, r)
			return
		}
		named := info.Resource
		stripped := *info
		var identityHash string
		stripped.Resource, identityHash, _ = strings.Cut(named, identitySeparator)
		stripped.Parts = slices.Clone(info.Parts)
		if i := slices.Index(stripped.Parts, named); i >= 0 {
			stripped.Parts[i] = stripped.Resource
		}
		ctx := request.WithRequestInfo(r.Context(), &stripped)
		if stripped.Resource == "" || identityHash == "" {
			writeError(w, r.WithContext(ctx), errorCodec, apierrors.NewBadRequest(fmt.Sprintf(
				"%q is not a resource and an identity: want <resource>%s<identity hash>", named, identitySeparator)))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, identityKey{}, identityHash)))
	})
}
