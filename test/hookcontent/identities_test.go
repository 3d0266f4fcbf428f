package hookcontent

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/authority"
	"github.com/forkless/kcp/internal/servertest"
)

// TestAssertedGroups is behavior 38: by no way of saying who one is does anybody come to be
// in the groups of hooks, and being in them would be worth nothing.
func TestAssertedGroups(t *testing.T) {
	directory := t.TempDir()
	// The type is in root, whose name is known before there is a server.
	const initializer, terminator = "system:kcp:initializer:root:claimed", "system:kcp:terminator:root:claimed"
	tokens := filepath.Join(directory, "tokens.csv")
	must(t, os.WriteFile(tokens, []byte(strings.Join([]string{
		`user-1-token,user-1,1111-1,"team-1"`,
		`user-2-token,user-2,1111-2,"team-2"`,
		`user-3-token,user-3,1111-3,"team-3"`,
		`admin-token,admin,2222,"system:masters"`,
		fmt.Sprintf(`hook-token,mallory,3333,"%s,%s,crew"`, initializer, terminator),
	}, "\n")), 0o600))
	clients, clientsFile := newAuthority(t, directory, "clients")
	proxies, proxiesFile := newAuthority(t, directory, "proxies")
	server := servertest.Start(t, "--token-auth-file="+tokens,
		"--client-ca-file="+clientsFile,
		"--requestheader-client-ca-file="+proxiesFile, "--requestheader-allowed-names=proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-")
	s := newSuite(t, server)
	admin := server.In(t, "base", s.types)
	create(t, server.In(t, "base", "root"), workspacetypes, "WorkspaceType", "claimed", map[string]any{"initializer": true, "terminator": true})
	cluster := s.newbornOf(t, admin, "claimed", "root").Spec.Cluster
	dying := s.newbornOf(t, admin, "claimed", "root")
	_, err := s.admin(t, dying.Spec.Cluster).Resource(logicalclusters).Patch(t.Context(), "cluster", types.MergePatchType,
		[]byte(`{"status":{"initializers":[]}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	s.await(t, dying.Name, "it is ready", isReady)
	s.remove(t, dying.Name)

	anonymous := server.As(t, "", "root")
	groups := map[string]string{"X-Remote-User": "mallory", "X-Remote-Group": initializer}
	warrant := fmt.Sprintf(`{"user":"mallory","groups":[%q,%q,"system:authenticated"]}`, initializer, terminator)
	for name, tc := range map[string]struct {
		reason  string
		config  *rest.Config
		headers map[string]string
		// who is whom the server takes the caller for; empty if it knows nobody.
		who string
	}{
		"Token":       {"a token of the file may name any group", server.As(t, "hook-token", "root"), nil, "mallory"},
		"Certificate": {"and so may a certificate", with(t, clients, anonymous, "mallory", initializer, terminator, "crew"), nil, "mallory"},
		"Proxy":       {"and a proxy that is trusted", with(t, proxies, anonymous, "proxy"), groups, "mallory"},
		"ProxyWarrant": {"be it in a warrant", with(t, proxies, anonymous, "proxy"),
			map[string]string{"X-Remote-User": "mallory", "X-Remote-Extra-" + url.PathEscape("authorization.kcp.io/warrant"): warrant}, "mallory"},
		"NoProxy":     {"who is not trusted need not try", anonymous, groups, "system:anonymous"},
		"ClientProxy": {"nor a client with a certificate", with(t, clients, anonymous, "visitor"), groups, "visitor"},
		"Forged":      {"a token that claims groups is signed by nobody", server.As(t, forged(cluster, initializer), "root"), nil, ""},
		"Account":     {"and the groups of service accounts are the server's to say", server.As(t, s.account, "root"), groups, "system:serviceaccount:controllers:hooks"},
		"Master": {"masters may put on any group, and have no use for it", server.As(t, master, "root"),
			map[string]string{"Impersonate-User": "mallory", "Impersonate-Group": initializer}, "mallory"},
	} {
		t.Run(name, func(t *testing.T) {
			review := send(t, tc.config, server.URL()+"/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews", http.MethodPost,
				`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`, tc.headers)
			if tc.who != "" && tc.who != "system:anonymous" && !strings.Contains(review.body, `"`+tc.who+`"`) {
				t.Errorf("the server takes the caller for %s", review.body)
			}
			if name != "Master" && strings.Contains(review.body, "system:kcp:") {
				t.Errorf("%s: got %s", tc.reason, review.body)
			}
			for _, in := range []string{cluster, dying.Spec.Cluster} {
				for _, path := range []string{
					"/clusters/" + in + "/api/v1/namespaces",
					"/services/" + initializing + "/root:claimed/clusters/" + in + "/api/v1/namespaces",
					"/services/" + ending + "/root:claimed/clusters/" + in + "/api/v1/namespaces",
				} {
					got := send(t, tc.config, server.URL()+path, http.MethodGet, "", tc.headers)
					if !slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, got.code) {
						t.Errorf("%s: %s: got %d %s", tc.reason, path, got.code, got.body)
					}
				}
			}
		})
	}

	// Nobody but masters may put the groups on, an admin of the workspace least of all.
	for _, path := range []string{"/clusters/" + cluster, "/services/" + initializing + "/root:claimed/clusters/" + cluster} {
		for _, group := range []string{initializer, terminator, "system:masters"} {
			for _, headers := range []map[string]string{
				{"Impersonate-User": "mallory", "Impersonate-Group": group},
				{"Impersonate-User": "mallory", "Impersonate-Extra-Authorization.kcp.io%2fwarrant": fmt.Sprintf(`{"user":"m","groups":[%q]}`, group)},
			} {
				got := s.send(t, creator, http.MethodGet, path+"/api/v1/namespaces", "", headers)
				if got.code != http.StatusForbidden {
					t.Errorf("%s: got %d %s", group, got.code, got.body)
				}
			}
		}
	}
}

// forged returns a token of a service account of a cluster that nobody has signed.
func forged(cluster string, groups ...string) string {
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	claims := fmt.Sprintf(`{"iss":"https://kcp.default.svc","sub":"system:serviceaccount:default:x","groups":[%q],"kubernetes.io":{"clusterName":%q,"namespace":"default","serviceaccount":{"name":"x","uid":"1"}}}`,
		strings.Join(groups, `","`), cluster)
	return encode(`{"alg":"none","typ":"JWT"}`) + "." + encode(claims) + "." + encode("x")
}

// newAuthority returns one that signs client certificates, and a new file with its own.
func newAuthority(t *testing.T, directory, name string) (a *authority.Authority, file string) {
	t.Helper()
	a, err := authority.New(name, time.Now())
	must(t, err)
	file = filepath.Join(directory, name+".crt")
	must(t, os.WriteFile(file, a.Certificate(), 0o600))
	return a, file
}

// with returns base for somebody with a certificate of the authority.
func with(t *testing.T, a *authority.Authority, base *rest.Config, name string, groups ...string) *rest.Config {
	t.Helper()
	issued, err := a.IssueClient(name, groups, time.Now())
	must(t, err)
	config := rest.CopyConfig(base)
	config.CertData, config.KeyData = issued.Certificate, issued.Key
	return config
}
