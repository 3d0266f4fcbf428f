package impersonation

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	upstream "k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// With is a filter that makes the user of a request the one its headers ask for, if
// the caller may. It belongs behind authentication and needs the request info and the
// logical cluster in the context. a is asked whether the caller may impersonate.
func With(handler http.Handler, a authorizer.Authorizer, s runtime.NegotiatedSerializer) http.Handler {
	checked := upstream.WithConstrainedImpersonation(withLimit(handler), forRequestor{a}, s)
	guarded := withGatekeeper(withRequestor(checked), s)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !requested(req.Header) {
			handler.ServeHTTP(w, req)
			return
		}
		guarded.ServeHTTP(w, req)
	})
}

// requested says whether any header asks for impersonation.
func requested(header http.Header) bool {
	for name := range header {
		switch name {
		case authenticationv1.ImpersonateUserHeader,
			authenticationv1.ImpersonateGroupHeader,
			authenticationv1.ImpersonateUIDHeader:
			return true
		}
		if strings.HasPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix) {
			return true
		}
	}
	return false
}

type requestorKey struct{}

// requestor is the caller as upstream's filter gets to see him.
//
// That filter remembers for some seconds whom a user may impersonate, without regard
// to the logical cluster, and keeps only the keys of the extra in one of its modes. The
// mark is an extra key made of the cluster and the whole extra, so that what was
// allowed to somebody in one cluster is remembered for him there alone.
type requestor struct {
	user.Info
	mark string
}

// GetExtra returns the extra of the caller and the mark.
func (r *requestor) GetExtra() map[string][]string {
	extra := make(map[string][]string, len(r.Info.GetExtra())+1)
	for key, values := range r.Info.GetExtra() {
		extra[key] = values
	}
	extra[r.mark] = nil
	return extra
}

// withRequestor marks the caller for upstream's filter and keeps the one he is.
func withRequestor(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		caller, ok := genericrequest.UserFrom(ctx)
		if ok {
			cluster, _ := logicalcluster.FromContext(ctx)
			// Maps are printed in the order of their keys.
			sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", cluster, caller.GetExtra()))
			marked := &requestor{Info: caller, mark: fmt.Sprintf("impersonation.kcp.io/%x", sum)}
			ctx = context.WithValue(genericrequest.WithUser(ctx, marked), requestorKey{}, caller)
		}
		handler.ServeHTTP(w, req.WithContext(ctx))
	})
}

// forRequestor asks about the caller as he is, not about what upstream's filter made
// of him: without his extra he might count as another service account of his name.
type forRequestor struct{ authorizer.Authorizer }

// Authorize implements authorizer.Authorizer.
func (a forRequestor) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	caller, ok := ctx.Value(requestorKey{}).(user.Info)
	if !ok {
		return authorizer.DecisionNoOpinion, "", errors.New("authorizing impersonation without a caller")
	}
	return a.Authorizer.Authorize(ctx, asUser{attributes, caller})
}

// asUser is the same question about another user.
type asUser struct {
	authorizer.Attributes
	user user.Info
}

// GetUser implements authorizer.Attributes.
func (a asUser) GetUser() user.Info { return a.user }

// withLimit limits the user who was put on to the cluster of the request.
func withLimit(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		if current, ok := genericrequest.UserFrom(ctx); ok {
			ctx = genericrequest.WithUser(ctx, limited(ctx, current))
		}
		handler.ServeHTTP(w, req.WithContext(ctx))
	})
}

// limited returns current as he goes on behind the filter.
func limited(ctx context.Context, current user.Info) user.Info {
	if caller, ok := current.(*requestor); ok {
		// The headers asked for nobody, such as one with an empty name.
		return caller.Info
	}
	if caller, ok := ctx.Value(requestorKey{}).(user.Info); ok && identity.IsMaster(caller) {
		return current
	}
	cluster, _ := logicalcluster.FromContext(ctx)
	return identity.Limit(current, cluster)
}
