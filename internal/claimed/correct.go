package claimed

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// IsRight says whether an object in a store has the labels of claims that it is to have.
// It only reads.
func (x *Index) IsRight(resource storage.Resource, obj runtime.Object) bool {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return true
	}
	cluster := clusterOf(accessor)
	if cluster.Empty() {
		return true
	}
	of := permissionclaims.LabelsOf(accessor)
	_, changed := permissionclaims.Corrected(of, x.LabelsIn(cluster, resource, of))
	return !changed
}

// Correct gives an object in a store the labels of claims that it is to have.
func (x *Index) Correct(resource storage.Resource, obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	of := permissionclaims.LabelsOf(accessor)
	corrected, changed := permissionclaims.Corrected(of, x.LabelsIn(clusterOf(accessor), resource, of))
	if changed {
		accessor.SetLabels(corrected)
	}
	return nil
}

// clusterOf returns the cluster of an object. The accessor of unstructured objects would
// copy all annotations for it, of every object that anybody changes.
func clusterOf(obj metav1.Object) logicalcluster.Name {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return logicalcluster.FromAnnotations(obj.GetAnnotations())
	}
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "annotations", logicalcluster.AnnotationKey)
	name, _ := value.(string)
	cluster, err := logicalcluster.ParseName(name)
	if err != nil {
		return logicalcluster.Name{}
	}
	return cluster
}
