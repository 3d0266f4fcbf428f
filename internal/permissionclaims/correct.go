package permissionclaims

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Corrected returns labels with those of claims as wanted, and whether that is another
// set. The given map is not changed, and nil stands for no labels.
func Corrected(of, wanted map[string]string) (corrected map[string]string, changed bool) {
	right := 0
	for key, value := range of {
		if !IsLabel(key) {
			continue
		}
		if want, ok := wanted[key]; !ok || want != value {
			changed = true
			break
		}
		right++
	}
	if !changed && right == len(wanted) {
		return of, false
	}
	corrected = make(map[string]string, len(of)+len(wanted))
	for key, value := range of {
		if !IsLabel(key) {
			corrected[key] = value
		}
	}
	maps.Copy(corrected, wanted)
	if len(corrected) == 0 {
		return nil, true
	}
	return corrected, true
}

// LabelsOf returns the labels of an object, which may be its own: they must not be
// changed. Unstructured objects without labels, most of them, are not searched in vain by
// accessors that allocate.
func LabelsOf(obj metav1.Object) map[string]string {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj.GetLabels()
	}
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "labels")
	if content, ok := value.(map[string]any); !ok || len(content) == 0 {
		return nil
	}
	return u.GetLabels()
}
