package webhooks

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// show makes obj say in which cluster it is, or not if that is nobody's business and
// cluster empty, until the returned function is called.
func show(obj runtime.Object, cluster string) (restore func()) {
	if obj == nil {
		return func() {}
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		// What has no metadata has no annotations.
		return func() {}
	}
	before := object.GetAnnotations()[logicalcluster.AnnotationKey]
	if before == cluster {
		return func() {}
	}
	annotate(object, cluster)
	return func() { annotate(object, before) }
}

// annotate sets the annotation, or removes it if cluster is empty, in a new map: the old
// one may be that of another object.
func annotate(object metav1.Object, cluster string) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	if cluster == "" {
		delete(annotations, logicalcluster.AnnotationKey)
	} else {
		annotations[logicalcluster.AnnotationKey] = cluster
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
}
