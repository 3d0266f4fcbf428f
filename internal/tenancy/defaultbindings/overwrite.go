package defaultbindings

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// overwritten returns existing with the reference, the answers to claims and the labels
// that fresh, a binding newly made, has. It is nil if they are the same, or if the binding
// goes: it is made anew when it has gone. What others have put on it stays, and so does
// what has been bound.
func overwritten(existing, fresh *apisv1alpha2.APIBinding) *apisv1alpha2.APIBinding {
	if !existing.DeletionTimestamp.IsZero() {
		return nil
	}
	changed := existing.DeepCopy()
	if !equality.Semantic.DeepEqual(existing.Spec, fresh.Spec) {
		changed.Spec = fresh.Spec
		changed.Generation++
	}
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	maps.Copy(changed.Labels, fresh.Labels)
	if equality.Semantic.DeepEqual(existing, changed) {
		return nil
	}
	return changed
}
