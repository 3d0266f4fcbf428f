package authn

import (
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/forkless/kcp/internal/authn/identity"
)

// dropping takes the groups that drop names from whoever inner recognises. Groups that
// only the server itself puts anybody into are worth nothing as long as a certificate, a
// token or a proxy can name them.
type dropping struct {
	inner authenticator.Request
	drop  func(group string) bool
}

// withoutGroups returns inner without the groups that patterns name, and never with those
// that mark the requests of initializers and terminators.
func withoutGroups(inner authenticator.Request, patterns []string) authenticator.Request {
	named := identity.GroupPatterns(patterns)
	return dropping{inner, func(group string) bool { return identity.IsLifecycleGroup(group) || named(group) }}
}

// AuthenticateRequest implements authenticator.Request.
func (d dropping) AuthenticateRequest(req *http.Request) (*authenticator.Response, bool, error) {
	response, ok, err := d.inner.AuthenticateRequest(req)
	if err != nil || !ok || response.User == nil {
		return response, ok, err
	}
	dropped := *response
	dropped.User = identity.DropGroups(response.User, d.drop)
	return &dropped, true, nil
}
