package logicalcluster

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// TestRecord: what many write at once as a hook is one write a minute, and is told.
func TestRecord(t *testing.T) {
	layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{Directory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	if _, err := layer.Open(cached.LogicalClusters, cached.Kinds()[cached.LogicalClusters]); err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(began)
	r := &Recorder{Layer: layer, Clusters: cached.NewLogicalClusterReader(layer), Clock: clock}
	cluster := logicalcluster.Generate()
	lc := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{
		Name: corev1alpha1.LogicalClusterName, UID: "uid", CreationTimestamp: metav1.NewTime(began), Finalizers: []string{corev1alpha1.DeletionFinalizer},
	}}
	lc.Status.Phase, lc.Status.Initializers = corev1alpha1.PhaseInitializing, []corev1alpha1.Initializer{"root:a"}
	batch := layer.NewBatch()
	batch.Create(cached.LogicalClusters, cluster, lc)
	if err := batch.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	hook, err := tenancy.ParseHook(tenancy.Initializing, "root:a")
	if err != nil {
		t.Fatal(err)
	}
	stored := func() *corev1alpha1.LogicalCluster {
		t.Helper()
		lc, err := r.Clusters.GetCurrent(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		return lc
	}
	record := func() *corev1alpha1.LogicalCluster {
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() { r.Record(t.Context(), cluster, hook, fmt.Sprintf("controller-%d", i)) })
		}
		wait.Wait()
		return stored()
	}
	first := record()
	condition, _ := conditions.Get(first, corev1alpha1.WorkspaceInitialized)
	if !strings.Contains(condition.Message, `last written by "controller-`) || !strings.Contains(condition.Message, "at 2026-01-02T03:04:05Z") {
		t.Errorf("the condition says %q", condition.Message)
	}
	if again := record(); again.ResourceVersion != first.ResourceVersion {
		t.Errorf("written again within a minute: %s, was %s", again.ResourceVersion, first.ResourceVersion)
	}
	clock.SetTime(began.Add(time.Minute))
	if later := record(); later.ResourceVersion == first.ResourceVersion {
		t.Error("not written a minute later")
	}
	r.Record(t.Context(), logicalcluster.Generate(), hook, "nobody")
}
