package mounted

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
)

// The headers by which a caller is vouched for, as the front proxies of Kubernetes and kcp
// spell them.
const (
	userHeader  = "X-Remote-User"
	groupHeader = "X-Remote-Group"
	extraPrefix = "X-Remote-Extra-"
)

// credentialHeaders are those by which callers prove who they are. In the last one browsers
// send the tokens of websockets.
var credentialHeaders = []string{"Authorization", "Sec-Websocket-Protocol"}

func credentialsOf(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range credentialHeaders {
		if values := header.Values(name); len(values) > 0 {
			kept[name] = slices.Clone(values)
		}
	}
	return kept
}

// dropIdentity takes away what a client may have said about himself that only a proxy may
// say, and what he has proved to this server.
func dropIdentity(header http.Header) {
	for name := range header {
		if strings.HasPrefix(textproto.CanonicalMIMEHeaderKey(name), "X-Remote-") {
			delete(header, name)
		}
	}
	header.Del("Authorization")
	header.Del("Cookie")
}

// vouch says in header who the caller of r is.
func vouch(header http.Header, r *http.Request) {
	caller, ok := request.UserFrom(r.Context())
	if !ok {
		return
	}
	who := abroad(caller)
	header.Set(userHeader, who.GetName())
	for _, group := range who.GetGroups() {
		header.Add(groupHeader, group)
	}
	for key, values := range who.GetExtra() {
		for _, value := range values {
			header.Add(extraPrefix+url.PathEscape(key), value)
		}
	}
}

// abroad returns who a caller is for another server. A tenant could give a service account,
// or a user of his workspace, any name that means something over there, so these go by what
// they are called outside of it. Power over this server is none over another: groups that
// give it stay here, as with kcp's own front proxy.
func abroad(caller user.Info) user.Info {
	caller = identity.Outside(caller)
	groups := slices.DeleteFunc(slices.Clone(caller.GetGroups()), func(group string) bool {
		return group != user.AllAuthenticated && identity.Privileged(group)
	})
	return &user.DefaultInfo{Name: caller.GetName(), Groups: groups, Extra: caller.GetExtra()}
}
