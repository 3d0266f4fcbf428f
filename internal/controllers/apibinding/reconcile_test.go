package apibinding

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestLocksOfWhatHasChanged: what a LogicalCluster says of a binding is written by who knows
// the binding as it is, even if nothing of the binding itself is to be changed.
func TestLocksOfWhatHasChanged(t *testing.T) {
	layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{Directory: t.TempDir(), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	for _, resource := range []storage.Resource{cached.LogicalClusters, cached.APIBindings} {
		if _, err := layer.Open(resource, cached.Kinds()[resource]); err != nil {
			t.Fatal(err)
		}
	}
	r := &reconciler{Config: Config{Layer: layer, Clusters: cached.NewLogicalClusterReader(layer)}}
	for name, tc := range map[string]struct {
		reason   string
		inherits bool
		want     error
	}{
		"Same":      {"nothing has changed since the binding was read", false, nil},
		"Inherited": {"another binding has gone since, and has given it what it had", true, storage.ErrBatchConflict},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := logicalcluster.Generate()
			lc := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Name: corev1alpha1.LogicalClusterName, UID: "lc"}}
			read := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "heir", UID: "heir"}}
			birth := layer.NewBatch()
			birth.Create(cached.LogicalClusters, cluster, lc)
			birth.Create(cached.APIBindings, cluster, read)
			commit(t, birth, tc.reason, nil)
			read.ResourceVersion = birth.ResourceVersion()
			if tc.inherits {
				heir := read.DeepCopy()
				heir.Status.BoundResources = []apisv1alpha2.BoundAPIResource{{Group: "wildwest.dev", Resource: "cowboys"}}
				inherits := layer.NewBatch()
				inherits.Update(cached.APIBindings, cluster, heir)
				commit(t, inherits, tc.reason, nil)
			}
			f := &facts{Input: binding.Input{Cluster: cluster, Binding: read}}
			if f.lc, err = r.Clusters.GetCurrent(t.Context(), cluster); err != nil {
				t.Fatal(err)
			}
			batch := layer.NewBatch()
			locks := binding.Locks{}.With(binding.Lock{Binding: "other"}, apischema.GroupResource{Resource: "cowboys"})
			r.addLocks(batch, cluster, f, binding.Plan{Binding: read, Claims: true, Locks: locks})
			commit(t, batch, tc.reason, tc.want)
		})
	}
}

func commit(t *testing.T, batch *storage.Batch, reason string, want error) {
	t.Helper()
	if err := batch.Commit(t.Context()); !errors.Is(err, want) {
		t.Fatalf("%s: the batch ends with %v, want %v", reason, err, want)
	}
}
