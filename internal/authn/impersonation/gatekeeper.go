package impersonation

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
)

var errNotAllowed = errors.New("impersonation is not allowed for the requestor")

// withGatekeeper refuses to let a caller put on privileged groups he is not in,
// whatever the policy of the workspace says: its admins may do everything there, and
// these groups mean something in all others.
func withGatekeeper(handler http.Handler, s runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		caller, ok := genericrequest.UserFrom(req.Context())
		if !ok {
			responsewriters.InternalError(w, req, errors.New("no user found for request"))
			return
		}
		if !mayPutOn(caller, claimed(req.Header)) {
			err := apierrors.NewForbidden(schema.GroupResource{}, "", errNotAllowed)
			responsewriters.RespondWithError(w, req, err, s)
			return
		}
		handler.ServeHTTP(w, req)
	})
}

// mayPutOn says whether caller is in all of groups that are privileged.
func mayPutOn(caller user.Info, groups []string) bool {
	if identity.IsMaster(caller) {
		return true
	}
	for _, group := range groups {
		if identity.Privileged(group) && !identity.InGroup(caller, group) {
			return false
		}
	}
	return true
}

// claimed returns the groups that headers ask for, those of warrants included: a
// warrant gives the power of its groups without being a member.
func claimed(header http.Header) []string {
	wanted := &user.DefaultInfo{
		Groups: header.Values(authenticationv1.ImpersonateGroupHeader),
		Extra:  map[string][]string{},
	}
	for name, values := range header {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = extraKey(key)
		wanted.Extra[key] = append(wanted.Extra[key], values...)
	}
	return identity.ClaimedGroups(wanted)
}

// extraKey decodes the key of an extra from a header name, as upstream's filter does.
func extraKey(encoded string) string {
	encoded = strings.ToLower(encoded)
	if key, err := url.PathUnescape(encoded); err == nil {
		return key
	}
	return encoded
}
