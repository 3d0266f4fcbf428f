package claimed

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/storage"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// IsRight says whether an object in a store has the labels of claims that it is to have.
// It only reads.
func (x *Index) IsRight(resource storage.Resource, obj runtime.Object) bool {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return true
	}
	name, of := clusterName(accessor), permissionclaims.LabelsOf(accessor)
	if !x.isConcerned(name, of) {
		return true
	}
	cluster, err := logicalcluster.ParseName(name)
	if err != nil {
		return true
	}
	_, changed := permissionclaims.Corrected(of, x.LabelsIn(cluster, resource, of))
	return !changed
}

// Correct gives an object in a store the labels of claims that it is to have.
func (x *Index) Correct(resource storage.Resource, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	cluster, err := logicalcluster.ParseName(clusterName(accessor))
	if err != nil {
		return err
	}
	of := permissionclaims.LabelsOf(accessor)
	corrected, changed := permissionclaims.Corrected(of, x.LabelsIn(cluster, resource, of))
	if changed {
		accessor.SetLabels(corrected)
	}
	return nil
}

// isConcerned says whether an object with these labels, in a cluster of this name, may have
// to do with claims. Most have not, which is found out without looking at the name closely.
func (x *Index) isConcerned(cluster string, of map[string]string) bool {
	for key := range of {
		if permissionclaims.IsLabel(key) || key == apisv1alpha1.InternalAPIBindingExportLabelKey {
			return true
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.clusters[cluster]) > 0
}

// clusterName returns the annotation of an object that says in which cluster it is. The
// accessor of unstructured objects would copy all annotations for it, of every object that
// anybody changes.
func clusterName(obj metav1.Object) string {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj.GetAnnotations()[logicalcluster.AnnotationKey]
	}
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "annotations", logicalcluster.AnnotationKey)
	name, _ := value.(string)
	return name
}
