// Package schema holds the vocabulary of what an API looks like: a Definition is
// the content of a CustomResourceDefinition without anything that belongs to the
// cluster it was read from, identified by a hash of that content; a Served says
// under which identity, and in which state, a cluster serves a Definition. BoundCRD says
// which definition an APIResourceSchema becomes when it is bound.
//
// Whatever is expensive about an API (compiled validation, CEL programs, OpenAPI,
// discovery documents) is derived from a Definition and shared by its Hash between
// all clusters that have the same one.
//
// The package is pure: no I/O, no clock, no state. It does not judge whether a
// definition is valid or may be served; that is decided before one is made.
//
// Invariants callers rely on:
//
//  1. A Definition is immutable after New, its CRD included.
//  2. Two Definitions with the same Hash have equal content: the CRD is a function
//     of what is hashed.
package schema
