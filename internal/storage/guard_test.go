package storage

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// guarded returns a context in cluster one that may see red objects of a resource.
func guarded(t *testing.T, resource string) context.Context {
	t.Helper()
	claim := apisv1alpha2.PermissionClaim{GroupResource: apisv1alpha2.GroupResource{Resource: resource}, Verbs: []string{"*"}}
	guard, err := permissionclaims.NewGuard(two, "export", claim, apisv1alpha2.AcceptablePermissionClaim{
		ScopedPermissionClaim: apisv1alpha2.ScopedPermissionClaim{
			PermissionClaim: claim,
			Selector:        apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}},
		},
		State: apisv1alpha2.ClaimAccepted,
	})
	if err != nil {
		t.Fatal(err)
	}
	return permissionclaims.WithGuard(logicalcluster.NewContext(t.Context(), one), guard)
}

func key(name string) string { return "/core/configmaps/default/" + name }

// paint gives an object a color, as its owner.
func paint(t *testing.T, store storage.Interface, name, color string) {
	t.Helper()
	err := store.GuaranteedUpdate(logicalcluster.NewContext(t.Context(), one), key(name), &corev1.ConfigMap{}, false, nil,
		func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			input.(*corev1.ConfigMap).Labels = map[string]string{"color": color}
			return input, nil, nil
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

func TestGuardHides(t *testing.T) {
	_, store := openConfigMaps(t)
	ctx := guarded(t, "configmaps")
	for _, name := range []string{"red", "blue", "gone"} {
		create(t, store, one, name)
	}
	paint(t, store, "red", "red")
	paint(t, store, "blue", "blue")
	ignored := func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
		return input, nil, nil
	}
	other := types.UID("other")
	for name, do := range map[string]func(name string) error{
		"Get": func(name string) error {
			return store.Get(ctx, key(name), storage.GetOptions{}, &corev1.ConfigMap{})
		},
		"CachedGet": func(name string) error {
			return store.Get(ctx, key(name), storage.GetOptions{ResourceVersion: "0"}, &corev1.ConfigMap{})
		},
		"Update": func(name string) error {
			return store.GuaranteedUpdate(ctx, key(name), &corev1.ConfigMap{}, false, nil, ignored, nil)
		},
		"UpdateOrCreate": func(name string) error {
			return store.GuaranteedUpdate(ctx, key(name), &corev1.ConfigMap{}, true, nil, ignored, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := do("blue"); !storage.IsNotFound(err) {
				t.Errorf("what may not be seen is not there, got %v", err)
			}
			if err := do("red"); err != nil {
				t.Errorf("what may be seen: %v", err)
			}
		})
	}
	t.Run("Preconditions", func(t *testing.T) {
		preconditions := &storage.Preconditions{UID: &other}
		err := store.GuaranteedUpdate(ctx, key("blue"), &corev1.ConfigMap{}, false, preconditions, ignored, nil)
		if !storage.IsNotFound(err) {
			t.Errorf("a precondition tells of what may not be seen: %v", err)
		}
		err = store.GuaranteedUpdate(ctx, key("red"), &corev1.ConfigMap{}, false, preconditions, ignored, nil)
		if !storage.IsInvalidObj(err) {
			t.Errorf("a precondition does not hold, got %v", err)
		}
		err = store.Delete(ctx, key("blue"), &corev1.ConfigMap{}, preconditions, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		if !storage.IsNotFound(err) {
			t.Errorf("a precondition of a deletion tells of what may not be seen: %v", err)
		}
	})
	t.Run("IgnoreNotFound", func(t *testing.T) {
		got := &corev1.ConfigMap{Data: map[string]string{"old": ""}}
		if err := store.Get(ctx, key("blue"), storage.GetOptions{IgnoreNotFound: true}, got); err != nil || got.Name != "" || got.Data != nil {
			t.Errorf("got %+v, error %v", got, err)
		}
	})
	t.Run("Delete", func(t *testing.T) {
		remove := func(name string) error {
			return store.Delete(ctx, key(name), &corev1.ConfigMap{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		}
		if err := remove("blue"); !storage.IsNotFound(err) {
			t.Errorf("what may not be seen is not there, got %v", err)
		}
		if err := remove("red"); err != nil {
			t.Errorf("what may be seen: %v", err)
		}
	})
}

// TestGuardDecidesOnWhatIsReplaced: the owner takes the label off while the provider
// writes, between the latter's look at the object and his write.
func TestGuardDecidesOnWhatIsReplaced(t *testing.T) {
	_, store := openConfigMaps(t)
	create(t, store, one, "a")
	paint(t, store, "a", "red")
	calls := 0
	err := store.GuaranteedUpdate(guarded(t, "configmaps"), key("a"), &corev1.ConfigMap{}, false, nil,
		func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			if calls++; calls == 1 {
				paint(t, store, "a", "blue")
			}
			input.(*corev1.ConfigMap).Data = map[string]string{"by": "provider"}
			return input, nil, nil
		}, nil)
	if !storage.IsNotFound(err) || calls != 1 {
		t.Errorf("got error %v after %d calls, want that there is no such object", err, calls)
	}
	got := &corev1.ConfigMap{}
	if err := store.Get(logicalcluster.NewContext(t.Context(), one), key("a"), storage.GetOptions{}, got); err != nil || got.Data != nil {
		t.Errorf("the provider has written %v, error %v", got.Data, err)
	}
}

func TestGuardIsForItsResource(t *testing.T) {
	layer, store := openConfigMaps(t)
	create(t, store, one, "a")
	if err := store.Get(guarded(t, "secrets"), key("a"), storage.GetOptions{}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("a guard of another resource hides this one: %v", err)
	}
	reader := NewReader[corev1.ConfigMap](layer, configMaps,
		func() *corev1.ConfigMapList { return &corev1.ConfigMapList{} },
		func(l *corev1.ConfigMapList) []corev1.ConfigMap { return l.Items })
	if _, err := reader.GetCurrent(guarded(t, "configmaps"), one, "default", "a"); err != nil {
		t.Errorf("the server does not see for itself what a guard hides: %v", err)
	}
}
