// Package unmarked leaves the annotation that names the cluster of an object out of what
// clients read.
//
// A server that is a single cluster to its clients shows objects as they were written:
// whoever compares what he reads with what he wrote finds nothing of ours. In storage and
// in memory the annotation stays, since that is how the cluster of an object is known.
//
//  1. What others read is not changed: maps are replaced, not written to.
//  2. What is written without the annotation gets it back, from the storage.
package unmarked

import (
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// remaining returns the other annotations, nil if there are none.
func remaining(annotations map[string]string) map[string]string {
	if len(annotations) == 1 {
		return nil
	}
	others := maps.Clone(annotations)
	delete(others, logicalcluster.AnnotationKey)
	return others
}

// unmark takes the annotation off an object that is a Go type. The object is nobody
// else's, its annotations may be.
func unmark(obj runtime.Object) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	annotations := accessor.GetAnnotations()
	if _, ok := annotations[logicalcluster.AnnotationKey]; ok {
		accessor.SetAnnotations(remaining(annotations))
	}
}

// unmarkItems takes the annotation off the objects of a list of Go types.
func unmarkItems(list runtime.Object) {
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if !items.IsValid() || items.Kind() != reflect.Slice {
		return
	}
	for i := range items.Len() {
		if item, ok := items.Index(i).Addr().Interface().(runtime.Object); ok {
			unmark(item)
		}
	}
}

// Custom returns a custom resource without the annotation. It shares the rest with u,
// which is not changed.
func Custom(u *unstructured.Unstructured) *unstructured.Unstructured {
	annotations := u.GetAnnotations()
	if _, ok := annotations[logicalcluster.AnnotationKey]; !ok {
		return u
	}
	metadata, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return u
	}
	own := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
	own.Object["metadata"] = maps.Clone(metadata)
	own.SetAnnotations(remaining(annotations))
	return own
}
