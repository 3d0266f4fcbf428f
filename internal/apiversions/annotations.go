package apiversions

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of objects as v1alpha1 shows them.
const (
	// ResourceSchemasAnnotationKey has the resources of an export that v1alpha1 has no
	// word for.
	ResourceSchemasAnnotationKey = "apis.v1alpha2.kcp.io/resource-schemas"
	// PermissionClaimsAnnotationKey has the claims of an export that are for some verbs
	// only, or have a default selector.
	PermissionClaimsAnnotationKey = "apis.v1alpha2.kcp.io/permission-claims"
	// AcceptableClaimsAnnotationKey has the answers of a binding that are for some verbs
	// or some objects only.
	AcceptableClaimsAnnotationKey = "apis.v1alpha2.kcp.io/acceptable-permission-claims"
	// StatusExportClaimsAnnotationKey is PermissionClaimsAnnotationKey for the claims in
	// the status of a binding.
	StatusExportClaimsAnnotationKey = "apis.v1alpha2.kcp.io/status-export-permission-claims"
	// StatusAppliedClaimsAnnotationKey is AcceptableClaimsAnnotationKey for the claims in
	// the status of a binding.
	StatusAppliedClaimsAnnotationKey = "apis.v1alpha2.kcp.io/status-applied-permission-claims"
)

// Annotations of objects as v1alpha2 shows them.
const (
	// OriginalClaimsAnnotationKey has the claims of an export or a binding that name objects,
	// as they were written in v1alpha1.
	OriginalClaimsAnnotationKey = "apis.v1alpha2.kcp.io/v1alpha1-permission-claims"
	// OriginalStatusExportClaimsAnnotationKey has claims in the status of a binding as they
	// were written in v1alpha1.
	OriginalStatusExportClaimsAnnotationKey = "apis.v1alpha2.kcp.io/v1alpha1-status-export-permission-claims"
	// OriginalStatusAppliedClaimsAnnotationKey has claims in the status of a binding as
	// they were written in v1alpha1.
	OriginalStatusAppliedClaimsAnnotationKey = "apis.v1alpha2.kcp.io/v1alpha1-status-applied-permission-claims"
)

// StatusAnnotations returns the keys of annotations that hold a part of the status, in
// either version.
func StatusAnnotations() []string {
	return []string{
		StatusExportClaimsAnnotationKey, StatusAppliedClaimsAnnotationKey,
		OriginalStatusExportClaimsAnnotationKey, OriginalStatusAppliedClaimsAnnotationKey,
	}
}

// metaFor returns the metadata of the converted object, whose annotations may be changed.
func metaFor(in *metav1.ObjectMeta) metav1.ObjectMeta {
	out := *in
	out.Annotations = maps.Clone(in.Annotations)
	return out
}

// keep makes the annotation called key hold items, or removes it if there are none.
func keep[T any](meta *metav1.ObjectMeta, key string, items []T) {
	if len(items) == 0 {
		delete(meta.Annotations, key)
		if len(meta.Annotations) == 0 {
			meta.Annotations = nil
		}
		return
	}
	value, err := json.Marshal(items)
	if err != nil {
		// They are plain structs, which always can be.
		panic(fmt.Sprintf("writing annotation %s: %v", key, err))
	}
	metav1.SetMetaDataAnnotation(meta, key, string(value))
}

// take removes the annotation called key and returns what it holds.
func take[T any](meta *metav1.ObjectMeta, key string) ([]T, error) {
	value, ok := meta.Annotations[key]
	if !ok {
		return nil, nil
	}
	keep[T](meta, key, nil)
	var items []T
	if err := json.Unmarshal([]byte(value), &items); err != nil {
		return nil, fmt.Errorf("failed to decode overhanging %s from annotation: %w", key, err)
	}
	return items, nil
}

// takeReadable is take for what has been stored: what cannot be read is nothing.
func takeReadable[T any](meta *metav1.ObjectMeta, key string) []T {
	items, err := take[T](meta, key)
	if err != nil {
		return nil
	}
	return items
}
