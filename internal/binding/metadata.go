package binding

import (
	"maps"
	"strings"

	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// metadata sets the labels by which the binding is found, and mirrors annotations. The
// export may have come after the binding, so that admission could not know it.
func (d *decision) metadata() {
	cluster, name := d.Export.Cluster, d.Export.Object.Name
	labels := maps.Clone(d.wanted.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[apisv1alpha1.InternalAPIBindingExportLabelKey] = apihash.Export(cluster, name)
	labels[apihash.ClaimLabelKey(cluster, name)] = apihash.Reflexive
	d.wanted.Labels = labels
	mirrorExtras(d.wanted, d.Export.Object.Annotations)
}

// mirrorExtras makes the extra annotations of a binding those of its export.
func mirrorExtras(b *apisv1alpha2.APIBinding, export map[string]string) {
	isExtra := func(key, _ string) bool {
		return strings.HasPrefix(key, apisv1alpha1.AnnotationAPIExportExtraKeyPrefix)
	}
	annotations := maps.Clone(b.Annotations)
	maps.DeleteFunc(annotations, isExtra)
	for key, value := range export {
		if isExtra(key, value) {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[key] = value
		}
	}
	b.Annotations = annotations
}
