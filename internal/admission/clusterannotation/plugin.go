package clusterannotation

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Name of the plugin.
const Name = "kcp.io/ClusterAnnotation"

const annotation = logicalcluster.AnnotationKey

// Plugin is the plugin.
type Plugin struct{ *admission.Handler }

var _ admission.MutationInterface = &Plugin{}

// New returns the plugin.
func New() *Plugin { return &Plugin{admission.NewHandler(admission.Create, admission.Update)} }

// Admit sets the annotation and takes it out of everybody's managed fields.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if !isStored(a) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // because what has no metadata has no annotations
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	if current(a.GetObject(), object) != cluster.String() {
		set(object, cluster.String())
	}
	disown(a.GetObject(), object)
	return nil
}

// isStored says whether the object of the request is one that is kept: reviews are
// answered and forgotten, and most subresources have objects of another kind.
func isStored(a admission.Attributes) bool {
	switch a.GetResource().Group {
	case "authentication.k8s.io", "authorization.k8s.io":
		return false
	default:
		return a.GetObject() != nil && (a.GetSubresource() == "" || a.GetSubresource() == "status")
	}
}

// current returns the annotation. The accessor of unstructured objects would copy all
// annotations for it, and nearly always for nothing.
func current(obj runtime.Object, object metav1.Object) string {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "annotations", annotation)
		s, _ := value.(string)
		return s
	}
	return object.GetAnnotations()[annotation]
}

// set writes the annotation into a new map: the old one may be that of another object.
func set(object metav1.Object, value string) {
	old := object.GetAnnotations()
	annotations := make(map[string]string, len(old)+1)
	for key, value := range old {
		annotations[key] = value
	}
	annotations[annotation] = value
	object.SetAnnotations(annotations)
}
