package garbage

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// BenchmarkCollect deletes an owner with 2,000 dependents and waits until they, and it,
// are gone or orphaned.
func BenchmarkCollect(b *testing.B) {
	const dependents, writers = 2000, 16
	server := servertest.Start(b)
	for _, propagation := range []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	} {
		b.Run(string(propagation), func(b *testing.B) {
			w := newWorkspace(b, server)
			var total time.Duration
			for b.Loop() {
				b.StopTimer()
				owner := w.create(object{secrets, "default", "owner"})
				var group errgroup.Group
				group.SetLimit(writers)
				for n := range dependents {
					group.Go(func() error {
						_, err := w.tryCreate(configMap(fmt.Sprintf("dependent-%d", n)), blocking(owner))
						return err
					})
				}
				if err := group.Wait(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				began := time.Now()
				w.delete(object{secrets, "default", "owner"}, propagation)
				w.gone(object{secrets, "default", "owner"})
				servertest.Eventually(b, "no dependents are left", func() (bool, any) {
					left := w.dependents()
					return left == 0, left
				})
				total += time.Since(began)
				b.StopTimer()
				if err := w.client.Resource(configMaps).Namespace("default").DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(dependents*b.N)/total.Seconds(), "dependents/s")
		})
	}
}

// dependents returns how many ConfigMaps have owners.
func (w workspace) dependents() int {
	w.t.Helper()
	list, err := w.client.Resource(configMaps).Namespace("default").List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	count := 0
	for i := range list.Items {
		if len(list.Items[i].GetOwnerReferences()) > 0 {
			count++
		}
	}
	return count
}
