// Package bind is the question whether a user may bind an APIExport, which admission asks
// of whoever makes something that refers to one: bindings, endpoint slices, workspace
// types.
//
// It is asked where the export is. Whether the export exists is nobody's business who may
// not bind it: an unknown path, a missing export and a missing permission have the same
// answer.
package bind
