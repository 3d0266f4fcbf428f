package binding

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

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

// maxExtras is how many bytes of annotations an export may put into each of its bindings:
// a quarter of what an object may have, and no more than leaves the owner able to write it.
const maxExtras = validation.TotalAnnotationSizeLimitB / 4

// mirrorExtras makes the extra annotations of a binding those of its export. Of more than
// there is room for, those that come first in the alphabet are mirrored.
func mirrorExtras(b *apisv1alpha2.APIBinding, export map[string]string) {
	annotations := maps.Clone(b.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return isExtra(key) })
	room := validation.TotalAnnotationSizeLimitB
	for key, value := range annotations {
		room -= len(key) + len(value)
	}
	room = min(room, maxExtras)
	for _, key := range slices.Sorted(maps.Keys(export)) {
		if !isExtra(key) {
			continue
		}
		if room -= len(key) + len(export[key]); room < 0 {
			break
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = export[key]
	}
	b.Annotations = annotations
}

func isExtra(key string) bool {
	return strings.HasPrefix(key, apisv1alpha1.AnnotationAPIExportExtraKeyPrefix)
}
