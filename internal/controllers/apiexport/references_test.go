package apiexport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var home, away = logicalcluster.MustParseName("home"), logicalcluster.MustParseName("away")

func in(cluster logicalcluster.Name, namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Annotations: map[string]string{logicalcluster.AnnotationKey: cluster.String()},
	}
}

func TestReferences(t *testing.T) {
	key := func(cluster logicalcluster.Name, name string) controller.Key {
		return controller.Key{Cluster: cluster, Name: name}
	}
	secret := func(cluster logicalcluster.Name, namespace, name string) *core.Secret {
		return &core.Secret{ObjectMeta: in(cluster, namespace, name)}
	}
	for name, tc := range map[string]struct {
		reason string
		hears  func(r *references)
		want   []controller.Key
	}{
		"Changed": {"all exports that go by a secret hear of it", func(r *references) {
			r.Changed(cached.Secrets, secret(home, "kcp-system", "shared"))
		}, []controller.Key{key(home, "one"), key(home, "two")}},
		"Gone": {"so do they when it goes", func(r *references) {
			r.Gone(cached.Secrets, secret(away, "kcp-system", "shared"))
		}, []controller.Key{key(away, "one")}},
		"OtherName":      {"other secrets mean nothing", func(r *references) { r.Changed(cached.Secrets, secret(home, "kcp-system", "other")) }, nil},
		"OtherNamespace": {"nor do those of other namespaces", func(r *references) { r.Changed(cached.Secrets, secret(home, "default", "shared")) }, nil},
		"Removed": {"an export that is gone is forgotten", func(r *references) {
			r.remove(key(away, "one"))
			r.Changed(cached.Secrets, secret(away, "kcp-system", "shared"))
		}, nil},
		"Moved": {"an export goes by one secret at a time", func(r *references) {
			r.set(key(away, "one"), "default", "mine")
			r.Changed(cached.Secrets, secret(away, "kcp-system", "shared"))
			r.Changed(cached.Secrets, secret(away, "default", "mine"))
		}, []controller.Key{key(away, "one")}},
		"Namespace": {"a namespace that was in the way is gone", func(r *references) {
			r.Gone(cached.Namespaces, &core.Namespace{ObjectMeta: in(away, "", "kcp-system")})
			r.Gone(cached.Namespaces, &core.Namespace{ObjectMeta: in(home, "", "default")})
		}, []controller.Key{key(away, "one")}},
		"Gap": {"after a gap in what is heard all are looked at", func(r *references) {
			r.remove(key(home, "two"))
			r.remove(key(home, "one"))
			r.Synced(cached.Secrets)
			r.Synced(cached.ConfigMaps)
		}, []controller.Key{key(away, "one")}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []controller.Key
			r := &references{enqueue: func(key controller.Key) { got = append(got, key) }}
			r.set(key(home, "one"), "kcp-system", "shared")
			r.set(key(home, "two"), "kcp-system", "shared")
			r.set(key(away, "one"), "kcp-system", "shared")
			tc.hears(r)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(logicalcluster.Name{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
