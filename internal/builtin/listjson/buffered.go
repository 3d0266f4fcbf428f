package listjson

import (
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// Buffered returns serializer with lists written in large pieces instead of item by
// item. Nothing is remembered, so it is for all kinds of objects.
func Buffered(serializer runtime.Serializer) runtime.Serializer {
	return buffered{serializer}
}

type buffered struct{ runtime.Serializer }

// Encode implements runtime.Encoder.
func (b buffered) Encode(obj runtime.Object, w io.Writer) error {
	if !meta.IsListType(obj) {
		return b.Serializer.Encode(obj, w)
	}
	buffer, release := bufferTo(w)
	defer release()
	if err := b.Serializer.Encode(obj, buffer); err != nil {
		return err
	}
	return buffer.Flush()
}
