// Package apiversions converts APIExports and APIBindings between v1alpha1 and v1alpha2,
// which is how they are stored.
//
// Neither version can say all that the other can. What one has no field for is kept in
// annotations of the object as that version shows it, so that an object can be read and
// written back in either version without losing anything:
//
//   - what is shown as v1alpha1 has annotations with what only v1alpha2 can say: resources
//     that are not stored as custom resources are, and claims with verbs and selectors;
//   - what is shown as v1alpha2, and stored, has annotations with what only v1alpha1 can
//     say: objects that claims name.
//
// Claims are found again by group, resource and identity. What an annotation says about a
// claim that is not there any more is dropped. Only the order of resources of an export
// may change, which means nothing.
//
// Everything that is stored can be shown as v1alpha1: annotations that cannot be read are
// dropped, since who wrote them must not keep others from listing. The other way they are
// an error, which says so to the one who writes them.
//
// The package is pure.
package apiversions
