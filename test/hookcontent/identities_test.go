package hookcontent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
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
	clients, proxies := newAuthority(t), newAuthority(t)
	server := servertest.Start(t, "--token-auth-file="+tokens,
		"--client-ca-file="+clients.write(t, directory, "clients"),
		"--requestheader-client-ca-file="+proxies.write(t, directory, "proxies"), "--requestheader-allowed-names=proxy",
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
		"Certificate": {"and so may a certificate", clients.config(t, anonymous, "mallory", initializer, terminator, "crew"), nil, "mallory"},
		"Proxy":       {"and a proxy that is trusted", proxies.config(t, anonymous, "proxy"), groups, "mallory"},
		"ProxyWarrant": {"be it in a warrant", proxies.config(t, anonymous, "proxy"),
			map[string]string{"X-Remote-User": "mallory", "X-Remote-Extra-" + url.PathEscape("authorization.kcp.io/warrant"): warrant}, "mallory"},
		"NoProxy":     {"who is not trusted need not try", anonymous, groups, "system:anonymous"},
		"ClientProxy": {"nor a client with a certificate", clients.config(t, anonymous, "visitor"), groups, "visitor"},
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

// authority signs client certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.certificate, a.key = a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// sign signs template, by itself as long as there is no authority yet.
func (a *authority) sign(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must(t, err)
	certificate, err := x509.ParseCertificate(der)
	must(t, err)
	return certificate, key
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// write returns a new file with the certificate of the authority.
func (a *authority) write(t *testing.T, directory, name string) string {
	t.Helper()
	file := filepath.Join(directory, name+".crt")
	must(t, os.WriteFile(file, encodePEM("CERTIFICATE", a.certificate.Raw), 0o600))
	return file
}

// config returns base for somebody with a certificate of the authority.
func (a *authority) config(t *testing.T, base *rest.Config, name string, groups ...string) *rest.Config {
	t.Helper()
	certificate, key := a.sign(t, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	der, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	config := rest.CopyConfig(base)
	config.CertData, config.KeyData = encodePEM("CERTIFICATE", certificate.Raw), encodePEM("EC PRIVATE KEY", der)
	return config
}
