// Package reservedcrdannotations is the admission plugin that keeps the annotations
// by which the system marks the definitions of bound APIs off all others.
package reservedcrdannotations
