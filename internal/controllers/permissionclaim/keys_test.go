package permissionclaim

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/claimed"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	kcpschema "github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestKeys(t *testing.T) {
	for _, resource := range []storage.Resource{
		{GroupResource: schema.GroupResource{Resource: "configmaps"}},
		{GroupResource: schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}},
		{GroupResource: schema.GroupResource{Group: "example.com", Resource: "widgets"}, Identity: "abcd"},
	} {
		got, ok := resourceOf(resourceKey(logicalcluster.Root, resource))
		if !ok || got != resource {
			t.Errorf("%v: the key stands for %v, %t", resource, got, ok)
		}
	}
	if resource, ok := resourceOf(controller.Key{Cluster: logicalcluster.Root, Name: "configmaps"}); ok {
		t.Errorf("the key of a binding stands for %v", resource)
	}
}

func TestChanges(t *testing.T) {
	binding := controller.Key{Cluster: logicalcluster.Root, Name: "a"}
	maps := permissionclaims.Name{GroupResource: schema.GroupResource{Resource: "configmaps"}}
	secrets := permissionclaims.Name{GroupResource: schema.GroupResource{Resource: "secrets"}}
	c := newChanges()
	c.add(binding, nil)
	if c.any(binding) {
		t.Error("nothing is a change")
	}
	c.add(binding, []permissionclaims.Name{maps})
	c.add(binding, []permissionclaims.Name{maps, secrets})
	if got := c.take(binding); !slices.Equal(got, []permissionclaims.Name{maps, secrets}) {
		t.Errorf("got %v", got)
	}
	if c.any(binding) || len(c.of) > 0 {
		t.Error("what is taken is still there")
	}
}

// TestListener: what has the wrong labels is enqueued, once for all of a resource, and what
// waits for exports is when one changes.
func TestListener(t *testing.T) {
	index := claimed.New(func(logicalcluster.Name, schema.GroupResource) (kcpschema.Served, bool) {
		return kcpschema.Served{}, false
	})
	var enqueued []controller.Key
	listener := &feed{index: index, waiting: newWaiting(), enqueue: func(key controller.Key) { enqueued = append(enqueued, key) }}
	in := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "default", Name: "a", Labels: labels,
			Annotations: map[string]string{logicalcluster.AnnotationKey: "root"},
		}
	}
	expect := func(reason string, want ...controller.Key) {
		t.Helper()
		if !slices.Equal(enqueued, want) {
			t.Errorf("%s: enqueued %v, want %v", reason, enqueued, want)
		}
		enqueued = nil
	}
	listener.Changed(cached.ConfigMaps, &core.ConfigMap{ObjectMeta: in(map[string]string{"a": "b"})})
	expect("most objects have nothing to do with claims")
	listener.Changed(cached.ConfigMaps, &core.ConfigMap{ObjectMeta: in(map[string]string{"claimed.internal.apis.kcp.io/x": "y"})})
	expect("a label that nobody wants", resourceKey(logicalcluster.Root, cached.ConfigMaps))
	listener.Gone(cached.ConfigMaps, &core.ConfigMap{ObjectMeta: in(map[string]string{"claimed.internal.apis.kcp.io/x": "y"})})
	expect("what is gone needs no labels")

	export := &apisv1alpha2.APIExport{ObjectMeta: in(nil)}
	listener.Changed(cached.APIExports, export)
	expect("nobody waits for an export")
	waits := controller.Key{Cluster: logicalcluster.Root, Name: "binding"}
	listener.waiting.set(waits, "theirs", "ours", "ours")
	listener.Changed(cached.APIExports, export)
	expect("somebody waits for others")
	export.Status.IdentityHash = "ours"
	listener.Changed(cached.APIExports, export)
	expect("somebody does", waits)
	listener.waiting.set(waits, "theirs")
	listener.Changed(cached.APIExports, export)
	expect("and does no more")
	listener.waiting.set(waits)
	if len(listener.waiting.of)+len(listener.waiting.on) > 0 {
		t.Errorf("something is left behind: %v, %v", listener.waiting.of, listener.waiting.on)
	}
}
