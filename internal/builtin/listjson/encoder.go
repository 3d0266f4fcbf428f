package listjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// longList is how many items a list has at least for its items to be remembered.
	longList = 100

	// bufferSize is how much is handed to the connection at a time. Upstream writes
	// each item by itself, and each write may become a frame.
	bufferSize = 32 << 10
)

// Codecs returns codecs that encode JSON lists by way of cache.
func Codecs(codecs runtime.NegotiatedSerializer, cache *Cache) runtime.NegotiatedSerializer {
	infos := append([]runtime.SerializerInfo(nil), codecs.SupportedMediaTypes()...)
	for i := range infos {
		if infos[i].MediaType == runtime.ContentTypeJSON {
			infos[i].Serializer = listSerializer{Serializer: infos[i].Serializer, cache: cache}
		}
	}
	return negotiated{NegotiatedSerializer: codecs, infos: infos}
}

type negotiated struct {
	runtime.NegotiatedSerializer
	infos []runtime.SerializerInfo
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.infos }

// listSerializer is upstream's but for long lists.
type listSerializer struct {
	runtime.Serializer
	cache *Cache
}

// Encode implements runtime.Encoder.
func (s listSerializer) Encode(obj runtime.Object, w io.Writer) error {
	if meta.LenList(obj) < longList {
		return s.Serializer.Encode(obj, w)
	}
	items, err := meta.ExtractList(obj)
	if err != nil {
		return s.Serializer.Encode(obj, w)
	}
	head, tail, ok := s.envelope(obj)
	if !ok {
		return s.Serializer.Encode(obj, w)
	}
	encoded, err := s.encode(items)
	if err != nil {
		return err
	}
	return write(w, head, encoded, tail)
}

// envelope returns what upstream writes before and after the items of a list.
func (s listSerializer) envelope(list runtime.Object) (head, tail []byte, ok bool) {
	value := reflect.ValueOf(list)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return nil, nil, false
	}
	empty := reflect.New(value.Elem().Type())
	empty.Elem().Set(value.Elem())
	items := empty.Elem().FieldByName("Items")
	emptyList, isObject := empty.Interface().(runtime.Object)
	if !isObject || !items.IsValid() || items.Kind() != reflect.Slice {
		return nil, nil, false
	}
	items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	var buffer bytes.Buffer
	if err := s.Serializer.Encode(emptyList, &buffer); err != nil {
		return nil, nil, false
	}
	const end = "]}\n"
	data := buffer.Bytes()
	if !bytes.HasSuffix(data, []byte(`,"items":[`+end)) {
		return nil, nil, false
	}
	return data[:len(data)-len(end)], data[len(data)-len(end):], true
}

// encode returns the JSON of items.
func (s listSerializer) encode(items []runtime.Object) ([][]byte, error) {
	keys, encoded := make([]key, len(items)), make([][]byte, len(items))
	for i, item := range items {
		keys[i] = keyOf(item)
	}
	s.cache.get(keys, encoded)
	fresh := false
	for i, item := range items {
		if encoded[i] != nil {
			keys[i] = key{}
			continue
		}
		data, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		encoded[i], fresh = data, true
	}
	if fresh {
		s.cache.add(keys, encoded)
	}
	return encoded, nil
}

// keyOf returns the key of an item, or the zero key if it must not be remembered.
func keyOf(item runtime.Object) key {
	accessor, err := meta.Accessor(item)
	if err != nil {
		return key{}
	}
	k := key{kind: reflect.TypeOf(item), uid: accessor.GetUID(), version: accessor.GetResourceVersion()}
	// Items that say their kind and those that do not are encoded differently.
	if k.uid == "" || k.version == "" || !item.GetObjectKind().GroupVersionKind().Empty() {
		return key{}
	}
	return k
}

var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, bufferSize) }}

// bufferTo returns a buffer before w. The caller flushes it, and releases it when done.
func bufferTo(w io.Writer) (buffer *bufio.Writer, release func()) {
	buffer, _ = buffers.Get().(*bufio.Writer)
	buffer.Reset(w)
	return buffer, func() {
		buffer.Reset(nil)
		buffers.Put(buffer)
	}
}

func write(w io.Writer, head []byte, items [][]byte, tail []byte) error {
	buffer, release := bufferTo(w)
	defer release()
	// Errors stay with the buffer until it is flushed.
	_, _ = buffer.Write(head)
	for i, item := range items {
		if i > 0 {
			_ = buffer.WriteByte(',')
		}
		_, _ = buffer.Write(item)
	}
	_, _ = buffer.Write(tail)
	return buffer.Flush()
}
