// Package apiexport is the admission plugin for APIExports: resources have to be those
// that their schemas are for, and claims have to say whose resources they want. Whether
// the schemas exist is not asked: they may come later.
//
// Rules are those of v1alpha2 for both versions. What annotations of v1alpha1 make of an
// export no schema has seen, so it is all checked here.
package apiexport
