package lifecycle

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// BenchmarkBirth measures how long it takes from the creation of a workspace until it is
// ready: without an initializer, and with one whose controller answers at once. Half of
// them take no longer than p50.
func BenchmarkBirth(b *testing.B) {
	s := &suite{server: servertest.Start(b, servertest.WithUsers(b))}
	s.prepare(b)
	waiting := watching(b, s.all(b, first, initializing, "first"), metav1.ListOptions{})
	go func() {
		for event := range waiting.ResultChan() {
			if event.Type != watch.Added {
				continue
			}
			cluster := clusterOf(event.Object.(*unstructured.Unstructured))
			if _, err := patch(b, s.one(b, first, initializing, "first", cluster), mergePatch, `{"status":{"initializers":[]}}`); err != nil {
				b.Error(err)
			}
		}
	}()
	seen := watching(b, s.admin(b, s.types).Resource(workspaces), metav1.ListOptions{})
	for name, workspaceType := range map[string]string{"Plain": "plain", "Initializer": "first"} {
		b.Run(name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for b.Loop() {
				begun := time.Now()
				name := s.conceive(b, workspaceType)
				nextOf(b, seen, func(event watch.Event) bool {
					ws := as[tenancyv1alpha1.Workspace](b, event.Object.(*unstructured.Unstructured))
					return ws.Name == name && ws.Status.Phase == corev1alpha1.PhaseReady
				})
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
