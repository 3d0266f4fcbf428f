package serviceaccount

import (
	"context"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// vault is one account with one secret, in the cluster home.
type vault struct {
	account *corev1.ServiceAccount
	secret  *corev1.Secret
	labeled int
}

func (v *vault) GetServiceAccount(ctx context.Context, _, name string) (*corev1.ServiceAccount, error) {
	if cluster, _ := logicalcluster.FromContext(ctx); v.account == nil || cluster.String() != "home" || name != v.account.Name {
		return nil, apierrors.NewNotFound(corev1.Resource("serviceaccounts"), name)
	}
	return v.account, nil
}

func (v *vault) GetSecret(ctx context.Context, _, name string) (*corev1.Secret, error) {
	if cluster, _ := logicalcluster.FromContext(ctx); v.secret == nil || cluster.String() != "home" || name != v.secret.Name {
		return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
	}
	return v.secret, nil
}

func (v *vault) LabelSecret(_ context.Context, secret *corev1.Secret, labels map[string]string) error {
	if secret.Namespace != "default" || secret.Name != v.secret.Name || secret.UID != v.secret.UID {
		return apierrors.NewConflict(corev1.Resource("secrets"), secret.Name, nil)
	}
	v.labeled++
	v.secret = v.secret.DeepCopy()
	if v.secret.Labels == nil {
		v.secret.Labels = map[string]string{}
	}
	maps.Copy(v.secret.Labels, labels)
	return nil
}

// legacyToken puts a token into v that was made for a cluster.
func (v *vault) legacyToken(t *testing.T, key any, cluster string) string {
	t.Helper()
	generator, err := NewLegacyGenerator(key)
	if err != nil {
		t.Fatal(err)
	}
	v.account = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot", UID: "1"}}
	v.secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot-token", UID: "2"}}
	public, private := serviceaccount.LegacyClaims(*v.account, *v.secret)
	token, err := generator.GenerateToken(logicalcluster.NewContext(t.Context(), logicalcluster.MustParseName(cluster)), public, private)
	if err != nil {
		t.Fatal(err)
	}
	v.secret.Data = map[string][]byte{corev1.ServiceAccountTokenKey: []byte(token)}
	return token
}

func TestLegacyTokens(t *testing.T) {
	key, err := KeepKey("")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason  string
		cluster string
		change  func(*vault)
		ok      bool
	}{
		"Good":         {"the token that a secret holds is good", "home", func(*vault) {}, true},
		"OtherCluster": {"it is good for the cluster that it was made for", "away", func(*vault) {}, false},
		"NoSecret":     {"it goes with its secret", "home", func(v *vault) { v.secret = nil }, false},
		"OtherToken":   {"a secret holds one token", "home", func(v *vault) { v.secret.Data["token"] = []byte("other") }, false},
		"NoAccount":    {"it goes with its account", "home", func(v *vault) { v.account = nil }, false},
		"OtherAccount": {"an account of the same name is another one", "home", func(v *vault) { v.account.UID = "3" }, false},
		"Invalidated": {"somebody has said that it is not good any more", "home", func(v *vault) {
			v.secret.Labels = map[string]string{serviceaccount.InvalidSinceLabelKey: "2026-01-01"}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := &vault{}
			token := v.legacyToken(t, key, tc.cluster)
			tc.change(v)
			checked := check(t, v, key)
			for range 2 {
				response, ok, err := checked.AuthenticateToken(t.Context(), token)
				if ok != tc.ok {
					t.Fatalf("%s: %v, %v", tc.reason, ok, err)
				}
				if ok && response.User.GetExtra()["authentication.kcp.io/cluster-name"][0] != tc.cluster {
					t.Errorf("%s: the user is %v", tc.reason, response.User)
				}
			}
			if tc.ok && v.labeled != 1 {
				t.Errorf("%s: that it was used was written %d times, want once a day", tc.reason, v.labeled)
			}
		})
	}
}
