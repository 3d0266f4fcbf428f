// Package structural holds the structural schemas of one definition, by version, and
// what they do to objects: pruning what no schema mentions, dropping malformed
// metadata, and filling in defaults.
//
// It gives custom resources what decoding into Go structs gives built-in types. It
// does not validate; that is the work of the registry's strategy.
//
// Beside the transformations it answers, without copying, whether they would leave
// an object as it is (Unchanged, Coerced). Nearly all stored objects are left as they are, and
// so can be served from memory that is shared with the watch cache.
package structural
