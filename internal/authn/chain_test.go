package authn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/authority"
)

// signer signs client certificates.
type signer struct {
	t *testing.T
	*authority.Authority
}

func newSigner(t *testing.T) signer {
	t.Helper()
	a, err := authority.New("ca", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{t: t, Authority: a}
}

func (s signer) client(name string, groups ...string) *x509.Certificate {
	s.t.Helper()
	issued, err := s.IssueClient(name, groups, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		s.t.Fatal(err)
	}
	return pair.Leaf
}

func (s signer) provider() dynamiccertificates.CAContentProvider {
	s.t.Helper()
	provider, err := dynamiccertificates.NewStaticCAContent("test", s.Certificate())
	if err != nil {
		s.t.Fatal(err)
	}
	return provider
}

type tokenMap map[string]string

func (m tokenMap) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	name, ok := m[token]
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, ok, nil
}

func TestChain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(file, []byte("user-1-token,user-1,uid,\"team-1\"\nshared,from-file,uid\n"+
		"hook-token,hook,uid,\"a,system:kcp:initializer:root:x,unwanted-1\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clients, proxies, strangers := newSigner(t), newSigner(t), newSigner(t)
	full := Config{
		Admin: tokenMap{"admin-token": "kcp-admin", "shared": "from-admin"},
		RequestHeader: &authenticatorfactory.RequestHeaderConfig{
			CAContentProvider:   proxies.provider(),
			AllowedClientNames:  headerrequest.StaticStringSlice{"proxy"},
			UsernameHeaders:     headerrequest.StaticStringSlice{"X-Remote-User"},
			UIDHeaders:          headerrequest.StaticStringSlice{},
			GroupHeaders:        headerrequest.StaticStringSlice{"X-Remote-Group"},
			ExtraHeaderPrefixes: headerrequest.StaticStringSlice{"X-Remote-Extra-"},
		},
		ClientCA:   clients.provider(),
		TokenFile:  file,
		Tokens:     []authenticator.Token{tokenMap{"later-token": "later", "user-1-token": "shadowed"}},
		Anonymous:  true,
		DropGroups: []string{"unwanted-*"},
	}
	certain := full
	certain.Anonymous = false
	authenticated := []string{user.AllAuthenticated}

	const initializer, terminator = "system:kcp:initializer:root:x", "system:kcp:terminator:root:x"
	table := map[string]struct {
		reason      string
		config      Config
		token       string
		certificate *x509.Certificate
		headers     map[string]string
		name        string // empty means 401
		groups      []string
	}{
		"Nothing":             {"without a credential one is anonymous", full, "", nil, nil, user.Anonymous, []string{user.AllUnauthenticated}},
		"NothingCertain":      {"unless that is off", certain, "", nil, nil, "", nil},
		"AdminToken":          {"the server's own tokens are known", full, "admin-token", nil, nil, "kcp-admin", authenticated},
		"AdminFirst":          {"and go first", full, "shared", nil, nil, "from-admin", authenticated},
		"TokenFile":           {"tokens of the file bring their groups", full, "user-1-token", nil, nil, "user-1", []string{"team-1", user.AllAuthenticated}},
		"LaterToken":          {"further authenticators follow", full, "later-token", nil, nil, "later", authenticated},
		"Garbage":             {"a rejected token is no missing one", full, "garbage", nil, nil, "", nil},
		"GarbageNoTokens":     {"even if there are none to know", Config{Anonymous: true}, "garbage", nil, nil, "", nil},
		"Certificate":         {"a certificate names user and groups", full, "", clients.client("carol", "a", "b"), nil, "carol", []string{"a", "b", user.AllAuthenticated}},
		"StrangeCertificate":  {"of an authority that is trusted", full, "", strangers.client("carol"), nil, "", nil},
		"TokenAndCertificate": {"a good token makes up for a bad certificate", full, "user-1-token", strangers.client("carol"), nil, "user-1", []string{"team-1", user.AllAuthenticated}},
		"Proxy":               {"a proxy may name the user", full, "", proxies.client("proxy"), map[string]string{"X-Remote-User": "dave", "X-Remote-Group": "g"}, "dave", []string{"g", user.AllAuthenticated}},
		"NotTheProxy":         {"another name of its authority may not", full, "", proxies.client("other"), map[string]string{"X-Remote-User": "dave"}, "", nil},
		"ClientAsProxy":       {"nor may clients: they are who they are", full, "", clients.client("carol"), map[string]string{"X-Remote-User": "dave"}, "carol", authenticated},
		"TokenAsHook":         {"groups that are dropped come with no token", full, "hook-token", nil, nil, "hook", []string{"a", user.AllAuthenticated}},
		"CertificateAsHook":   {"nor with a certificate", full, "", clients.client("carol", initializer, "a", terminator, "unwanted-2"), nil, "carol", []string{"a", user.AllAuthenticated}},
		"ProxyAsHook":         {"nor by the word of a proxy", full, "", proxies.client("proxy"), map[string]string{"X-Remote-User": "dave", "X-Remote-Group": initializer}, "dave", authenticated},
		"HookByDefault":       {"those of hooks need not even be named", Config{ClientCA: clients.provider()}, "", clients.client("carol", terminator, "unwanted-2"), nil, "carol", []string{"unwanted-2", user.AllAuthenticated}},
		"HeadersOnly":         {"nor anybody without a certificate", full, "", nil, map[string]string{"X-Remote-User": "dave"}, user.Anonymous, []string{user.AllUnauthenticated}},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			a, err := New(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequest(http.MethodGet, "/", nil)
			if tc.token != "" {
				req.Header.Set("Authorization", "Bearer "+tc.token)
			}
			for name, value := range tc.headers {
				req.Header.Set(name, value)
			}
			if tc.certificate != nil {
				req.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{tc.certificate}}
			}
			response, ok, err := a.AuthenticateRequest(req)
			if ok != (tc.name != "") {
				t.Fatalf("%s: got %v, error %v", tc.reason, ok, err)
			}
			if !ok {
				return
			}
			if diff := cmp.Diff(tc.name, response.User.GetName()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.groups, response.User.GetGroups()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if id := response.User.GetExtra()[user.CredentialIDKey]; tc.certificate != nil && tc.headers == nil && tc.token == "" &&
				(len(id) != 1 || !strings.HasPrefix(id[0], "X509SHA256=")) {
				t.Errorf("certificates are told by their hash: got %q", id)
			}
		})
	}
}

// TestDroppedFromWarrants tells the story of a proxy that passes on an extra of a client,
// which holds a warrant of a hook.
func TestDroppedFromWarrants(t *testing.T) {
	proxies := newSigner(t)
	a, err := New(Config{RequestHeader: &authenticatorfactory.RequestHeaderConfig{
		CAContentProvider:   proxies.provider(),
		AllowedClientNames:  headerrequest.StaticStringSlice{"proxy"},
		UsernameHeaders:     headerrequest.StaticStringSlice{"X-Remote-User"},
		UIDHeaders:          headerrequest.StaticStringSlice{},
		GroupHeaders:        headerrequest.StaticStringSlice{"X-Remote-Group"},
		ExtraHeaderPrefixes: headerrequest.StaticStringSlice{"X-Remote-Extra-"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{proxies.client("proxy")}}
	req.Header.Set("X-Remote-User", "dave")
	req.Header.Set("X-Remote-Extra-"+url.PathEscape(identity.WarrantKey), `{"user":"w","groups":["b","system:kcp:terminator:root:x"]}`)
	response, ok, err := a.AuthenticateRequest(req)
	if err != nil || !ok {
		t.Fatalf("got %v, error %v", ok, err)
	}
	if diff := cmp.Diff([]string{`{"user":"w","groups":["b"]}`}, response.User.GetExtra()[identity.WarrantKey]); diff != "" {
		t.Errorf("a warrant would give the power of its groups (-want +got):\n%s", diff)
	}
}

func TestTokenFileMissing(t *testing.T) {
	if _, err := New(Config{TokenFile: filepath.Join(t.TempDir(), "missing")}); err == nil {
		t.Error("a token file that cannot be read must not be taken for an empty one")
	}
}
