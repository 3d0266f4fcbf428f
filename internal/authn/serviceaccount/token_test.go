package serviceaccount

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const issuer = "https://kcp.default.svc"

// accounts are the UIDs of service accounts by "<cluster>/<namespace>/<name>".
type accounts map[string]types.UID

func (a accounts) GetServiceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	cluster, _ := logicalcluster.FromContext(ctx)
	uid, ok := a[cluster.String()+"/"+namespace+"/"+name]
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource("serviceaccounts"), name)
	}
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}, nil
}

func (a accounts) LabelSecret(context.Context, *corev1.Secret, map[string]string) error { return nil }

func (a accounts) GetSecret(_ context.Context, _, name string) (*corev1.Secret, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
}

// issue returns a token of the account robot with that UID, for a cluster.
func issue(t *testing.T, key any, cluster string, uid types.UID, seconds int64) string {
	t.Helper()
	generator, err := NewGenerator(issuer, key)
	if err != nil {
		t.Fatal(err)
	}
	account := core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot", UID: uid}}
	public, private, err := serviceaccount.Claims(account, nil, nil, nil, seconds, 0, []string{issuer})
	if err != nil {
		t.Fatal(err)
	}
	ctx := logicalcluster.NewContext(t.Context(), logicalcluster.MustParseName(cluster))
	token, err := generator.GenerateToken(ctx, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// check returns what checks tokens that one of keys has signed.
func check(t *testing.T, known Accounts, keys ...any) authenticator.Token {
	t.Helper()
	verifying, err := VerifyingKeys(nil, keys...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewAuthenticators(Config{
		Issuers:   []string{issuer},
		Keys:      verifying,
		Audiences: authenticator.Audiences{issuer},
		Accounts:  known,
		Lookup:    true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return union.New(all...)
}

func TestAuthenticateToken(t *testing.T) {
	key, err := KeepKey("")
	if err != nil {
		t.Fatal(err)
	}
	other, err := KeepKey("")
	if err != nil {
		t.Fatal(err)
	}
	known := accounts{"home/default/robot": "1", "away/default/robot": "2"}
	checked := check(t, known, key)
	good := issue(t, key, "home", "1", 600)
	parts := strings.Split(good, ".")
	for name, tc := range map[string]struct {
		reason, token string
		ok            bool
	}{
		"Good":        {"a token of an account that is there is good", good, true},
		"Replaced":    {"the account of a token is that of its UID", issue(t, key, "home", "0", 600), false},
		"OtherHome":   {"an account of the same name elsewhere is another one", issue(t, key, "away", "1", 600), false},
		"NoHome":      {"there must be such an account in the cluster of the token", issue(t, key, "nowhere", "1", 600), false},
		"Expired":     {"tokens have an end", issue(t, key, "home", "1", -600), false},
		"ForeignKey":  {"only our own signature counts", issue(t, other, "home", "1", 600), false},
		"Cut":         {"without its signature it is no token", parts[0] + "." + parts[1] + ".", false},
		"Exchanged":   {"the signature is that of the claims", parts[0] + "." + strings.Split(issue(t, key, "away", "2", 600), ".")[1] + "." + parts[2], false},
		"Garbage":     {"anything may be sent", "a.b.c", false},
		"StaticToken": {"other tokens are other authenticators' business", "user-1-token", false},
	} {
		t.Run(name, func(t *testing.T) {
			// What the request is to has nothing to do with where the account is.
			ctx := authenticator.WithAudiences(logicalcluster.NewContext(t.Context(), logicalcluster.Root), authenticator.Audiences{issuer})
			response, ok, err := checked.AuthenticateToken(ctx, tc.token)
			if ok != tc.ok {
				t.Fatalf("%s: %v, %v", tc.reason, ok, err)
			}
			if !ok {
				return
			}
			if got := response.User.GetName(); got != "system:serviceaccount:default:robot" {
				t.Errorf("%s: the user is %s", tc.reason, got)
			}
			extra := response.User.GetExtra()
			want := map[string][]string{
				"authentication.kcp.io/cluster-name":         {"home"},
				"authentication.kcp.io/scopes":               {"cluster:home"},
				"authentication.kubernetes.io/credential-id": extra["authentication.kubernetes.io/credential-id"],
			}
			if diff := cmp.Diff(want, extra); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestKeepKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sa.key")
	first, err := KeepKey(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := KeepKey(file)
	if err != nil {
		t.Fatal(err)
	}
	checked := check(t, accounts{"home/default/robot": "1"}, again)
	ctx := authenticator.WithAudiences(t.Context(), authenticator.Audiences{issuer})
	if _, ok, err := checked.AuthenticateToken(ctx, issue(t, first, "home", "1", 600)); !ok {
		t.Errorf("tokens do not outlive a restart: %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key can be read by others: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepKey(file); err == nil {
		t.Error("a file that holds no key was replaced, and all tokens with it")
	}
}

func TestVerifyingKeys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sa.key")
	kept, err := KeepKey(file)
	if err != nil {
		t.Fatal(err)
	}
	own, err := KeepKey("")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := VerifyingKeys([]string{file, file}, own, own, kept)
	if err != nil {
		t.Fatal(err)
	}
	if all := keys.GetPublicKeys(t.Context(), ""); len(all) != 2 {
		t.Errorf("a key counts once wherever it is found, got %d", len(all))
	}
	if _, err := VerifyingKeys([]string{file + ".none"}, own); err == nil {
		t.Error("a file that is missing was not missed, and the tokens of its keys are refused")
	}
	if _, err := PrivateKey(file + ".none"); err == nil {
		t.Error("there is no such key")
	}
}
