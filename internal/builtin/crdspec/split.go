package crdspec

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// magic begins objects that Kubernetes stores as protobuf. Behind it is a
// runtime.Unknown with the object in it.
var magic = []byte("k8s\x00")

// Field numbers of runtime.Unknown and of CustomResourceDefinition.
const (
	unknownType protowire.Number = 1
	unknownRaw  protowire.Number = 2
	crdSpec     protowire.Number = 2
)

// parts are a stored definition in two.
type parts struct {
	// spec are the bytes of the spec, behind those of the API version and kind.
	spec []byte
	// rest is the definition as it would be stored without a spec.
	rest []byte
}

// split takes a stored definition apart. ok is false for what is not stored as protobuf
// or has no spec; what else is odd about data is left for upstream to find.
func split(data []byte) (p parts, ok bool) {
	envelope, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return parts{}, false
	}
	var raw []byte
	p.rest = append(make([]byte, 0, 1024), magic...)
	ok = eachField(envelope, func(number protowire.Number, field, value []byte) {
		switch number {
		case unknownRaw:
			raw = value
			return
		case unknownType:
			p.spec = append(p.spec, value...)
		}
		p.rest = append(p.rest, field...)
	})
	if !ok {
		return parts{}, false
	}
	specs, object := 0, make([]byte, 0, 1024)
	ok = eachField(raw, func(number protowire.Number, field, value []byte) {
		if number == crdSpec {
			specs++
			p.spec = append(p.spec, value...)
			return
		}
		object = append(object, field...)
	})
	p.rest = protowire.AppendTag(p.rest, unknownRaw, protowire.BytesType)
	p.rest = protowire.AppendBytes(p.rest, object)
	return p, ok && specs == 1
}

// eachField calls visit with the fields of a message: all of a field, and its content
// if that has a length. It returns false if data is no message.
func eachField(data []byte, visit func(number protowire.Number, field, value []byte)) bool {
	for len(data) > 0 {
		number, kind, tagLength := protowire.ConsumeTag(data)
		if tagLength < 0 {
			return false
		}
		length := protowire.ConsumeFieldValue(number, kind, data[tagLength:])
		if length < 0 {
			return false
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(data[tagLength:])
		}
		visit(number, data[:tagLength+length], value)
		data = data[tagLength+length:]
	}
	return true
}
