package removal

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/core"
)

// held says whether an object with these finalizers has to wait for something. Kinds that
// have content are emptied first: namespaces have finalizers of a second kind for it, and
// definitions get one when they are deleted.
func held(obj runtime.Object, finalizers []string) bool {
	switch o := obj.(type) {
	case *core.Namespace:
		return len(finalizers) > 0 || len(o.Spec.Finalizers) > 0
	case *apiextensions.CustomResourceDefinition:
		return len(finalizers) > 0 || o.DeletionTimestamp == nil
	default:
		return len(finalizers) > 0
	}
}

// markContent marks what an object contains as about to be deleted, as the registries of
// such kinds do.
func markContent(obj runtime.Object) {
	switch o := obj.(type) {
	case *core.Namespace:
		o.Status.Phase = core.NamespaceTerminating
	case *apiextensions.CustomResourceDefinition:
		if !apiextensions.CRDHasFinalizer(o, apiextensions.CustomResourceCleanupFinalizer) {
			o.Finalizers = append(o.Finalizers, apiextensions.CustomResourceCleanupFinalizer)
		}
		apiextensions.SetCRDCondition(o, apiextensions.CustomResourceDefinitionCondition{
			Type:    apiextensions.Terminating,
			Status:  apiextensions.ConditionTrue,
			Reason:  "InstanceDeletionPending",
			Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
		})
	}
}
