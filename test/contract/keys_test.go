package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

var errNotYet = errors.New("not yet")

// newKey writes a key of service account tokens to a file.
func newKey(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(t, err)
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	ok(t, err)
	file := filepath.Join(t.TempDir(), name)
	ok(t, os.WriteFile(file, pem, 0o600))
	return file
}

// suiteOf returns the suite of a server of its own.
func suiteOf(t *testing.T, server *servertest.Server) *suite {
	t.Helper()
	return &suite{server: server, admin: server.Config(t, "base").BearerToken, master: server.Config(t, "shard-base").BearerToken}
}

// TestKeyRotation: a key is replaced without a token going bad before its time.
func TestKeyRotation(t *testing.T) {
	root, oldKey, newerKey := t.TempDir(), newKey(t, "old"), newKey(t, "new")

	server := servertest.StartIn(t, root, "--service-account-signing-key-file="+oldKey, "--service-account-private-key-file="+oldKey)
	s := suiteOf(t, server)
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	old, oldLegacy := admin.token("robot"), string(admin.legacy("robot-token", "robot").Data["token"])
	server.Stop()

	server = servertest.StartIn(t, root, "--service-account-signing-key-file="+newerKey, "--service-account-private-key-file="+newerKey,
		"--service-account-key-file="+oldKey, "--service-account-key-file="+newerKey)
	s = suiteOf(t, server)
	admin = s.as(t, s.admin, path)
	newer := admin.token("robot")
	for name, token := range map[string]string{"old": old, "old legacy": oldLegacy, "new": newer} {
		if a := s.as(t, token, path).get("/api"); a.code != 200 {
			t.Errorf("with both keys, the %s token is refused: %s", name, a.body)
		}
	}
	keys := s.as(t, newer, path).get("/openid/v1/jwks", "Accept: */*")
	if count := strings.Count(keys.body, `"kid"`); count != 2 {
		t.Errorf("others are told of %d keys: %s", count, keys.body)
	}
	server.Stop()

	server = servertest.StartIn(t, root, "--service-account-signing-key-file="+newerKey, "--service-account-private-key-file="+newerKey)
	s = suiteOf(t, server)
	got(t, s.as(t, newer, path).get("/api"), 200)
	got(t, s.as(t, old, path).get("/api"), 401)
	got(t, s.as(t, oldLegacy, path).get("/api"), 401)
}

// TestIssuers: the first issuer issues, and the tokens of all are accepted. With other
// audiences than the issuer, tokens are for these.
func TestIssuers(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root, "--service-account-issuer=https://before.example.dev")
	s := suiteOf(t, server)
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	before, err := admin.request("robot", authenticationv1.TokenRequestSpec{Audiences: []string{"workspaces"}})
	ok(t, err)
	got(t, s.as(t, before, path).get("/api"), 401)
	server.Stop()

	server = servertest.StartIn(t, root, "--service-account-issuer=https://after.example.dev", "--service-account-issuer=https://before.example.dev",
		"--api-audiences=workspaces,others", "--service-account-max-token-expiration=1h", "--service-account-jwks-uri=https://keys.example.dev/jwks")
	s = suiteOf(t, server)
	admin = s.as(t, s.admin, path)
	got(t, s.as(t, before, path).get("/api"), 200)
	after, err := admin.request("robot", authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)})
	ok(t, err)
	claims := claimsOf(t, after)
	if claims.Issuer != "https://after.example.dev" || strings.Join(claims.Audience, ",") != "workspaces,others" ||
		time.Duration(claims.Expiry-claims.IssuedAt)*time.Second != time.Hour {
		t.Errorf("got %+v", claims)
	}
	if claims.Kubernetes.ClusterName != admin.cluster().Annotations["kcp.io/cluster"] {
		t.Errorf("it is of %q", claims.Kubernetes.ClusterName)
	}
	got(t, s.as(t, after, path).get("/api"), 200)
	got(t, s.as(t, after, path).get("/.well-known/openid-configuration"), 200, "https://after.example.dev", "https://keys.example.dev/jwks")
}

type tokenClaims struct {
	Issuer     string   `json:"iss"`
	Audience   []string `json:"aud"`
	Expiry     int64    `json:"exp"`
	IssuedAt   int64    `json:"iat"`
	Kubernetes struct {
		ClusterName string `json:"clusterName"`
	} `json:"kubernetes.io"`
}

func claimsOf(t *testing.T, token string) tokenClaims {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	ok(t, err)
	var claims tokenClaims
	ok(t, json.Unmarshal(payload, &claims))
	return claims
}

// TestWithoutLookup: legacy tokens outlive their secret where nobody looks for it. Others
// do not.
func TestWithoutLookup(t *testing.T) {
	s := suiteOf(t, servertest.Start(t, "--service-account-lookup=false"))
	path := s.universal(t)
	admin := s.as(t, s.admin, path)
	admin.account("robot")
	legacy, requested := string(admin.legacy("robot-token", "robot").Data["token"]), admin.token("robot")
	ok(t, admin.kube().CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", metav1.DeleteOptions{}))
	eventually(t, "the secret goes", func() error {
		_, err := admin.kube().CoreV1().Secrets("default").Get(t.Context(), "robot-token", metav1.GetOptions{})
		return missing(err)
	})
	got(t, s.as(t, legacy, path).get("/api"), 200)
	s.as(t, requested, path).unauthorized("a token goes with its account")
}

// TestRootCA: after a restart with other certificates all namespaces have these.
func TestRootCA(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	s := suiteOf(t, server)
	paths := []string{"root"}
	for range 40 {
		paths = append(paths, s.universal(t))
	}
	s.as(t, s.admin, paths[1]).account("robot")
	s.as(t, s.admin, paths[1]).legacy("robot-token", "robot")
	server.Stop()

	other := servertest.StartIn(t, t.TempDir())
	bundle, err := os.ReadFile(filepath.Join(other.RootDirectory, "apiserver.crt"))
	ok(t, err)
	file := filepath.Join(t.TempDir(), "ca.crt")
	ok(t, os.WriteFile(file, bundle, 0o600))

	server = servertest.StartIn(t, root, "--root-ca-file="+file)
	s = suiteOf(t, server)
	for _, path := range append(paths, s.universal(t)) {
		inside := s.as(t, s.admin, path).kube().CoreV1()
		eventually(t, "the certificates of "+path+" are the new ones", func() error {
			all, err := inside.ConfigMaps("").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=kube-root-ca.crt"})
			if err != nil {
				return err
			}
			for _, configMap := range all.Items {
				if configMap.Data["ca.crt"] != string(bundle) {
					return errNotYet
				}
			}
			return nil
		})
	}
	eventually(t, "and those in secrets", func() error {
		secret, err := s.as(t, s.admin, paths[1]).kube().CoreV1().Secrets("default").Get(t.Context(), "robot-token", metav1.GetOptions{})
		if err == nil && string(secret.Data[corev1.ServiceAccountRootCAKey]) != string(bundle) {
			err = errNotYet
		}
		return err
	})
}
