package bootstrap

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func open(t *testing.T) (*storage.Layer, cached.ShardReader) {
	t.Helper()
	layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	if _, err := layer.Open(cached.Shards, cached.Kinds()[cached.Shards]); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); layer.Ready() != nil; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(layer.Ready())
		}
	}
	return layer, cached.NewShardReader(layer)
}

func shard(url string, annotations map[string]string) Object {
	return Object{Resource: cached.Shards, Cluster: logicalcluster.Root, Object: &corev1alpha1.Shard{
		ObjectMeta: metav1.ObjectMeta{Name: "root", Labels: map[string]string{"name": "root"}, Annotations: annotations},
		Spec:       corev1alpha1.ShardSpec{BaseURL: url},
	}}
}

// stored returns the shard once the watch cache has it at a version other than before.
func stored(t *testing.T, shards cached.ShardReader, before string) corev1alpha1.Shard {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		all, err := shards.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 && all[0].ResourceVersion != before {
			return all[0]
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing has changed: %v", all)
		}
	}
}

func TestEnsure(t *testing.T) {
	layer, shards := open(t)
	ensure := func(wanted Object) {
		t.Helper()
		if err := Ensure(t.Context(), layer, []Object{wanted}, nil); err != nil {
			t.Fatal(err)
		}
	}

	ensure(shard("https://one", nil))
	created := stored(t, shards, "")
	if created.UID == "" || created.CreationTimestamp.IsZero() || created.Spec.BaseURL != "https://one" {
		t.Errorf("created: %+v", created)
	}

	ensure(shard("https://one", nil))
	ensure(shard("https://two", map[string]string{corev1alpha1.CreateOnlyAnnotationKey: "true"}))
	changed := stored(t, shards, created.ResourceVersion)
	if changed.Spec.BaseURL != "https://two" || changed.UID != created.UID {
		t.Errorf("changed: %+v", changed)
	}

	ensure(shard("https://three", nil))
	kept, err := currentShard(t.Context(), layer)
	if err != nil || kept.ResourceVersion != changed.ResourceVersion {
		t.Errorf("an object that is created only was written again: %+v, %v", kept, err)
	}
}

func TestEnsureWritesNothingThatIsThere(t *testing.T) {
	layer, shards := open(t)
	if err := Ensure(t.Context(), layer, []Object{shard("https://one", nil)}, nil); err != nil {
		t.Fatal(err)
	}
	first := stored(t, shards, "")
	if err := Ensure(t.Context(), layer, []Object{shard("https://one", nil)}, nil); err != nil {
		t.Fatal(err)
	}
	again, err := currentShard(t.Context(), layer)
	if err != nil || again.ResourceVersion != first.ResourceVersion {
		t.Errorf("written twice: at %s, then %+v, %v", first.ResourceVersion, again, err)
	}
}

func currentShard(ctx context.Context, layer *storage.Layer) (*corev1alpha1.Shard, error) {
	reader := storage.NewReader[corev1alpha1.Shard](layer, cached.Shards,
		func() *corev1alpha1.ShardList { return &corev1alpha1.ShardList{} },
		func(l *corev1alpha1.ShardList) []corev1alpha1.Shard { return l.Items })
	return reader.GetCurrent(ctx, logicalcluster.Root, "", "root")
}
