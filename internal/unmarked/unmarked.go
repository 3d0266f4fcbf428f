// Package unmarked leaves the annotation that names the cluster of an object out of what
// clients read.
//
// A server that is a single cluster to its clients shows objects as they were written:
// whoever compares what he reads with what he wrote finds nothing of ours. In storage and
// in memory the annotation stays, since that is how the cluster of an object is known.
//
//  1. Objects are not changed: what is encoded is a copy as far as it differs, so watch
//     caches and other watches keep what they have.
//  2. What is written without the annotation gets it back, from the storage.
package unmarked

import (
	"io"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Serializer returns a serializer whose encoders leave out the annotation.
func Serializer(serializer runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	return negotiated{serializer}
}

type negotiated struct{ runtime.NegotiatedSerializer }

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (n negotiated) EncoderForVersion(serializer runtime.Encoder, gv runtime.GroupVersioner) runtime.Encoder {
	return n.NegotiatedSerializer.EncoderForVersion(encoder{serializer}, gv)
}

// encoder gets objects as they are about to be written.
type encoder struct{ runtime.Encoder }

// Encode implements runtime.Encoder.
func (e encoder) Encode(obj runtime.Object, w io.Writer) error {
	return e.Encoder.Encode(Object(obj), w)
}

// Identifier implements runtime.Encoder. What others have encoded is not the same.
func (e encoder) Identifier() runtime.Identifier { return "unmarked:" + e.Encoder.Identifier() }

// Object returns an object, or a list of objects, without the annotation. What it returns
// shares the rest with obj.
func Object(obj runtime.Object) runtime.Object {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		if isMarked(o) {
			return withoutMark(o)
		}
		return o
	case *unstructured.UnstructuredList:
		return unstructuredList(o)
	case *metav1.Table:
		return table(o)
	}
	if meta.IsListType(obj) {
		return list(obj)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil || !isMarked(accessor) {
		return obj
	}
	value := reflect.New(reflect.TypeOf(obj).Elem())
	value.Elem().Set(reflect.ValueOf(obj).Elem())
	unmark(value)
	return value.Interface().(runtime.Object)
}

func isMarked(object metav1.Object) bool {
	_, ok := object.GetAnnotations()[logicalcluster.AnnotationKey]
	return ok
}

// remaining returns the other annotations, nil if there are none.
func remaining(annotations map[string]string) map[string]string {
	if len(annotations) == 1 {
		return nil
	}
	others := maps.Clone(annotations)
	delete(others, logicalcluster.AnnotationKey)
	return others
}

// unmark takes the annotation off what value points to, which is nobody else's.
func unmark(value reflect.Value) {
	if accessor, err := meta.Accessor(value.Interface()); err == nil && isMarked(accessor) {
		accessor.SetAnnotations(remaining(accessor.GetAnnotations()))
	}
}

// list returns a list of Go objects, with items of its own.
func list(obj runtime.Object) runtime.Object {
	value := reflect.New(reflect.TypeOf(obj).Elem())
	value.Elem().Set(reflect.ValueOf(obj).Elem())
	items := value.Elem().FieldByName("Items")
	if !items.IsValid() || items.Kind() != reflect.Slice || items.Len() == 0 || items.Type().Elem().Kind() != reflect.Struct {
		return obj
	}
	own := reflect.MakeSlice(items.Type(), items.Len(), items.Len())
	reflect.Copy(own, items)
	for i := range own.Len() {
		unmark(own.Index(i).Addr())
	}
	items.Set(own)
	return value.Interface().(runtime.Object)
}

func unstructuredList(o *unstructured.UnstructuredList) runtime.Object {
	own := &unstructured.UnstructuredList{Object: o.Object, Items: make([]unstructured.Unstructured, len(o.Items))}
	for i := range o.Items {
		own.Items[i] = o.Items[i]
		if isMarked(&o.Items[i]) {
			own.Items[i] = *withoutMark(&o.Items[i])
		}
	}
	return own
}

// withoutMark returns a copy of the object down to its annotations.
func withoutMark(o *unstructured.Unstructured) *unstructured.Unstructured {
	own := &unstructured.Unstructured{Object: maps.Clone(o.Object)}
	metadata, ok := own.Object["metadata"].(map[string]any)
	if !ok {
		return o
	}
	own.Object["metadata"] = maps.Clone(metadata)
	own.SetAnnotations(remaining(o.GetAnnotations()))
	return own
}

// table returns a table whose rows are of objects without the annotation.
func table(o *metav1.Table) runtime.Object {
	own := *o
	own.Rows = make([]metav1.TableRow, len(o.Rows))
	for i := range o.Rows {
		own.Rows[i] = o.Rows[i]
		if object := o.Rows[i].Object.Object; object != nil {
			own.Rows[i].Object.Object = Object(object)
		}
	}
	return &own
}
