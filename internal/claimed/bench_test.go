package claimed

import (
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// BenchmarkIsRight is what every change of every object costs, in workspaces that accept
// claims and in others.
func BenchmarkIsRight(b *testing.B) {
	resource := storage.Resource{GroupResource: configMaps}
	x := New(lookup)
	x.Set(consumer, accepts(red, "", configMaps, widgets, apiBindings))
	for name, cluster := range map[string]logicalcluster.Name{"Unclaimed": other, "Claimed": consumer} {
		annotations := pairs{logicalcluster.AnnotationKey: cluster.String()}
		typed := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: annotations, Labels: pairs{"color": "blue"}}}
		untyped := &unstructured.Unstructured{}
		untyped.SetAnnotations(annotations)
		for form, object := range map[string]apiruntime.Object{"Typed": typed, "Unstructured": untyped} {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !x.IsRight(resource, object) {
						b.Fatal("it has the labels it is to have")
					}
				}
			})
		}
	}
}

// BenchmarkMemory is what a workspace costs that accepts what many others do.
func BenchmarkMemory(b *testing.B) {
	const clusters = 10_000
	names := make([]logicalcluster.Name, clusters)
	for i := range names {
		names[i] = logicalcluster.MustParseName(fmt.Sprintf("consumer%d", i))
	}
	for b.Loop() {
		before := heap.InUse()
		x := New(lookup)
		for _, name := range names {
			x.Set(name, accepts(red, "", configMaps, apiBindings))
		}
		b.ReportMetric(float64(heap.InUse()-before)/clusters, "B/cluster")
		runtime.KeepAlive(x)
	}
}
