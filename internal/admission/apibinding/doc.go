// Package apibinding is the admission plugin for APIBindings. It sets the labels by which
// a binding is found by those who look from the export's side, and checks that whoever
// binds may do so, and that answers to claims say which objects they are for.
//
// Permission is asked for once, when the binding is created or begins to mean another
// export; other changes need none, so that who has lost the permission can still change
// answers, and keep what is bound.
//
// A binding without a path, or to root, may be there before its export. Behind any other
// path, what does not exist is as forbidden as what may not be bound.
package apibinding
