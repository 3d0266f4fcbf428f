package clusterannotation

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// field is the annotation as a managed field, and fieldName how it is written there.
var (
	field     = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", annotation))
	fieldName = "f:" + annotation
)

// disown takes the annotation out of the managed fields of obj. Nearly always it is not
// there, which is found out without decoding them.
func disown(obj runtime.Object, object metav1.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok && !isOwned(u) {
		return
	}
	entries := object.GetManagedFields()
	var kept []metav1.ManagedFieldsEntry
	for i := range entries {
		entry, changed := entries[i], false
		if entry.FieldsV1 != nil && bytes.Contains(entry.FieldsV1.Raw, []byte(`"`+fieldName+`"`)) {
			entry.FieldsV1, changed = without(entry.FieldsV1)
		}
		if changed && kept == nil {
			// A new list: the old one may be that of another object.
			kept = append(make([]metav1.ManagedFieldsEntry, 0, len(entries)), entries[:i]...)
		}
		// Who owns nothing else is not named at all.
		if kept != nil && (!changed || entry.FieldsV1 != nil) {
			kept = append(kept, entry)
		}
	}
	if kept != nil {
		object.SetManagedFields(kept)
	}
}

// without returns fields without the annotation, nil if nothing is left, and whether
// that has changed them. Fields that cannot be read are left to whoever validates them.
func without(fields *metav1.FieldsV1) (left *metav1.FieldsV1, changed bool) {
	var owned fieldpath.Set
	if err := owned.FromJSON(bytes.NewReader(fields.Raw)); err != nil {
		return fields, false
	}
	rest := owned.Difference(field)
	if rest.Empty() {
		return nil, true
	}
	raw, err := rest.ToJSON()
	if err != nil {
		return fields, false
	}
	return &metav1.FieldsV1{Raw: raw}, true
}

// isOwned says whether a managed field of u is the annotation.
func isOwned(u *unstructured.Unstructured) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	entries, _ := value.([]any)
	for _, entry := range entries {
		content, _ := entry.(map[string]any)
		if _, owned, _ := unstructured.NestedFieldNoCopy(content, "fieldsV1", "f:metadata", "f:annotations", fieldName); owned {
			return true
		}
	}
	return false
}
