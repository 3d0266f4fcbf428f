// Package apiconversion is the admission plugin that keeps rules of conversion from being
// written that cannot work.
//
// An APIConversion and the APIResourceSchema of its name may be written in any order. The
// rules are checked by themselves as long as there is no schema, and against the schema by
// whichever comes second. Where both are written at the same time they may pass each
// other; then the API cannot be served, and every request for it says why.
package apiconversion
