package webhooks

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// show makes obj say in which cluster it is, until hide is called.
func show(obj runtime.Object, cluster logicalcluster.Name) (hide func()) {
	if obj == nil {
		return func() {}
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		// What has no metadata has no annotations.
		return func() {}
	}
	before, existed := object.GetAnnotations()[logicalcluster.AnnotationKey]
	if before == cluster.String() {
		return func() {}
	}
	annotate(object, func(annotations map[string]string) {
		annotations[logicalcluster.AnnotationKey] = cluster.String()
	})
	return func() {
		annotate(object, func(annotations map[string]string) {
			if existed {
				annotations[logicalcluster.AnnotationKey] = before
			} else {
				delete(annotations, logicalcluster.AnnotationKey)
			}
		})
	}
}

// annotate changes the annotations in a new map: the old one may be that of another
// object.
func annotate(object metav1.Object, change func(map[string]string)) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	change(annotations)
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
}
