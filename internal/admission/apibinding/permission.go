package apibinding

import (
	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// needsPermission says whether binding begins to mean an export that old does not. A path
// may come to lead to another workspace, which the label tells.
func needsPermission(binding, old *apisv1alpha2.APIBinding) bool {
	if old == nil || old.Spec.Reference.Export == nil || *old.Spec.Reference.Export != *binding.Spec.Reference.Export {
		return true
	}
	const key = apisv1alpha1.InternalAPIBindingExportLabelKey
	return old.Labels[key] != binding.Labels[key]
}

// wantedLabels returns the labels that name the export: those of what the binding refers
// to, or, where that leads nowhere now, those it had.
func wantedLabels(found *bind.Target, old *apisv1alpha2.APIBinding) map[string]string {
	if found != nil {
		return map[string]string{
			apisv1alpha1.InternalAPIBindingExportLabelKey:      apihash.Export(found.Cluster, found.Export),
			apihash.ClaimLabelKey(found.Cluster, found.Export): apihash.Reflexive,
		}
	}
	wanted := map[string]string{}
	if old == nil {
		return wanted
	}
	if hash, ok := old.Labels[apisv1alpha1.InternalAPIBindingExportLabelKey]; ok {
		wanted[apisv1alpha1.InternalAPIBindingExportLabelKey] = hash
		wanted[apisv1alpha1.APIExportPermissionClaimLabelPrefix+hash] = apihash.Reflexive
	}
	return wanted
}
