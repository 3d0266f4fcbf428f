package workspace

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// hold puts the finalizer on with which a workspace waits for its logical cluster, from
// the first write on and as long as it is not being deleted.
//
// Putting it on together with the cluster would be too late: a deletion that has read the
// workspace just before removes it whatever is written meanwhile, and nobody would
// remove the cluster any more. Mounted workspaces have no cluster.
func hold(a admission.Attributes) error {
	ws, err := request.As[tenancyv1alpha1.Workspace](a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if ws.Spec.Mount != nil || !ws.DeletionTimestamp.IsZero() || slices.Contains(ws.Finalizers, corev1alpha1.LogicalClusterFinalizer) {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	object.SetFinalizers(append(slices.Clone(ws.Finalizers), corev1alpha1.LogicalClusterFinalizer))
	return nil
}
