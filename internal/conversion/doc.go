// Package conversion turns objects of one version of an API into another by the rules of
// an APIConversion.
//
// Compile checks the rules against the schemas of the versions and compiles their
// expressions; the Converter it returns is immutable and may be used by everybody who has
// the same definition. The package is pure: no I/O, no clock, no state.
//
// What a conversion from one version to another does to an object, in this order:
//
//  1. The values of all fields that rules and preserve name are read, and transformed:
//     expressions see the object as it was, never what another rule made of it.
//  2. What rules read, what they write, and what is preserved is removed. Everything else
//     stays where it is.
//  3. What an earlier conversion has preserved of the version that is wanted is put back,
//     and its annotation removed.
//  4. The new values are put at their destinations, and what is preserved of the version
//     that the object had is written into an annotation.
//
// A field that is absent leaves its destination absent, and null stays null: there is
// nothing to transform. An expression that returns optional.none() leaves its destination
// absent as well.
//
// Paths lead through objects and maps: spec.size, .spec.size, spec.labels['a.b/c']. They
// do not lead into lists; a list is converted as a whole, by an expression such as
// self.map(p, {'number': dyn(p.port), 'name': dyn(p.name)}). What is in the metadata, and kind and apiVersion, no
// rule can name.
//
// Versions without rules for each other are converted by way of the storage version, if
// there are rules from or to that; otherwise they differ in their name only, which is
// what the strategy None says of versions in general.
//
// Whatever an object holds, a conversion ends: what expressions may cost is bounded, for
// each and for all that are evaluated for one object.
package conversion
