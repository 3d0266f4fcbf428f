// Package listjson encodes lists as JSON: in large pieces, and for built-in objects
// remembering the JSON of the items of long ones.
//
// Encoding is most of what a list costs, and most objects in a list are what they were
// when they were listed before. An object in one type with one UID and one resource
// version never changes, so its JSON can be kept:
//
//  1. What comes out is byte for byte what upstream's serializer writes.
//  2. Only items with a UID and a resource version are remembered, only from lists that
//     are long enough to matter, and no more of them than fit into a fixed size.
//  3. It is for types whose conversion and encoding depend on nothing but the object.
//     Custom resources are not among these, because their definition decides what is
//     shown. Buffered is for them.
package listjson
