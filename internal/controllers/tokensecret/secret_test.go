package tokensecret

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var home = logicalcluster.MustParseName("home")

func account(name string, uid types.UID) *core.ServiceAccount {
	return &core.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: name, UID: uid, Annotations: map[string]string{logicalcluster.AnnotationKey: home.String()},
	}}
}

// of returns a secret for the token of an account.
func of(name, account, uid string, data map[string][]byte) *core.Secret {
	secret := &core.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Annotations: map[string]string{
			logicalcluster.AnnotationKey: home.String(), core.ServiceAccountNameKey: account,
		}},
		Type: core.SecretTypeServiceAccountToken,
		Data: data,
	}
	if uid != "" {
		secret.Annotations[core.ServiceAccountUIDKey] = uid
	}
	return secret
}

func TestIsOf(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		secret *core.Secret
		want   bool
	}{
		"New":     {"a secret that has not been filled goes by the name", of("a", "robot", "", nil), true},
		"Filled":  {"one that has been goes by the UID", of("a", "robot", "1", nil), true},
		"Another": {"an account of the same name is another one", of("a", "robot", "2", nil), false},
		"Other":   {"it is an account that it names", of("a", "other", "1", nil), false},
	} {
		if got := isOf(tc.secret, account("robot", "1")); got != tc.want {
			t.Errorf("%s: %s", name, tc.reason)
		}
	}
}

func TestFill(t *testing.T) {
	full := map[string][]byte{"token": []byte("old"), "namespace": []byte("team"), "ca.crt": []byte("right"), "own": []byte("kept")}
	without := func(keys ...string) map[string][]byte {
		data := map[string][]byte{}
		for key, value := range full {
			data[key] = value
		}
		for _, key := range keys {
			delete(data, key)
		}
		return data
	}
	immutable := of("a", "robot", "", nil)
	immutable.Immutable = ptr.To(true)
	for name, tc := range map[string]struct {
		reason string
		secret *core.Secret
		lacks  lacking
		want   map[string][]byte
	}{
		"New":       {"a new secret has nothing", of("a", "robot", "", nil), lacking{true, true, true}, map[string][]byte{"token": []byte("new"), "namespace": []byte("team"), "ca.crt": []byte("right")}},
		"Full":      {"what is there stays", of("a", "robot", "1", full), lacking{}, full},
		"NoToken":   {"a token that was taken out is replaced", of("a", "robot", "1", without("token")), lacking{token: true}, func() map[string][]byte { d := without(); d["token"] = []byte("new"); return d }()},
		"Stale":     {"certificates are those of the server", of("a", "robot", "1", map[string][]byte{"token": []byte("old"), "namespace": []byte("team"), "ca.crt": []byte("wrong")}), lacking{rootCA: true}, without("own")},
		"Immutable": {"nobody changes what is immutable", immutable, lacking{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.secret.DeepCopy()
			lacks := whatIsLacking(tc.secret, []byte("right"))
			if lacks != tc.lacks {
				t.Errorf("%s: got %+v", tc.reason, lacks)
			}
			if lacks.nothing() {
				return
			}
			got := filled(tc.secret, account("robot", "1"), lacks, "new", []byte("right"))
			if diff := cmp.Diff(tc.want, got.Data); diff != "" || got.Annotations[core.ServiceAccountUIDKey] != "1" {
				t.Errorf("%s: annotations %v, data (-want +got):\n%s", tc.reason, got.Annotations, diff)
			}
			if diff := cmp.Diff(before, tc.secret); diff != "" {
				t.Errorf("%s: what others read was changed (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestListener(t *testing.T) {
	secretKey := controller.Key{Cluster: home, Namespace: "team", Name: "robot-token"}
	namespaceKey := controller.Key{Cluster: home, Namespace: "team"}
	token := of("robot-token", "robot", "1", nil)
	opaque := of("robot-token", "robot", "1", nil)
	opaque.Type = core.SecretTypeOpaque
	for name, tc := range map[string]struct {
		reason string
		hears  func(l *listener)
		want   []controller.Key
	}{
		"Changed": {"a secret may lack something", func(l *listener) { l.Changed(cached.Secrets, token) }, []controller.Key{secretKey}},
		"Opaque":  {"other secrets are others' business", func(l *listener) { l.Changed(cached.Secrets, opaque); l.Gone(cached.Secrets, opaque) }, nil},
		"Gone":    {"accounts may name it", func(l *listener) { l.Changed(cached.Secrets, token); l.Gone(cached.Secrets, token) }, []controller.Key{secretKey, secretKey}},
		"AccountGone": {"its secrets go with it", func(l *listener) {
			l.Changed(cached.Secrets, token)
			l.Gone(cached.ServiceAccounts, account("robot", "1"))
		}, []controller.Key{secretKey, namespaceKey}},
		"NoSecrets": {"where there are no secrets an account that goes costs nothing", func(l *listener) { l.Gone(cached.ServiceAccounts, account("robot", "1")) }, nil},
		"SecretForgot": {"a secret that is gone is forgotten", func(l *listener) {
			l.Changed(cached.Secrets, token)
			l.Gone(cached.Secrets, token)
			l.Gone(cached.ServiceAccounts, account("robot", "1"))
		}, []controller.Key{secretKey, secretKey}},
		"GapOfAccounts": {"in a gap an account may have gone", func(l *listener) { l.Changed(cached.Secrets, token); l.Synced(cached.ServiceAccounts) }, []controller.Key{secretKey, secretKey}},
		"GapOfSecrets": {"in a gap a secret may have gone", func(l *listener) {
			l.Changed(cached.Secrets, token)
			l.Began(cached.Secrets)
			l.Synced(cached.Secrets)
			l.Gone(cached.ServiceAccounts, account("robot", "1"))
		}, []controller.Key{secretKey, secretKey}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []controller.Key
			l := &listener{enqueue: func(key controller.Key) { got = append(got, key) }}
			tc.hears(l)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(logicalcluster.Name{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
