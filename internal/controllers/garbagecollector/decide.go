package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// standing is what an owner is to its dependents.
type standing int

const (
	// solid: it exists.
	solid standing = iota
	// dangling: it does not.
	dangling
	// waiting: it exists until its dependents are deleted.
	waiting
)

// Input is what is known of an object that has owner references.
type Input struct {
	// Finalizers are those of the object.
	Finalizers []string
	// Owners are the UIDs of its owners by what these are.
	Owners map[standing][]types.UID
	// Dependents says whether it has dependents itself, and Circular whether one of
	// them waits for its own dependents: perhaps for this object.
	Dependents, Circular bool
}

// Plan says what to do with the object. The zero Plan is nothing.
type Plan struct {
	// Release are owners to which the references are removed.
	Release []types.UID
	// Unblock makes the references of the object block their owners no longer.
	Unblock bool
	// Delete deletes the object, with this propagation; empty to let it be.
	Delete metav1.DeletionPropagation
}

// Decide says what becomes of an object. It performs no I/O.
func Decide(in Input) Plan {
	switch {
	case len(in.Owners[solid]) > 0:
		// An owner that waits for its dependents would wait for this one for ever.
		return Plan{Release: slices.Concat(in.Owners[dangling], in.Owners[waiting])}
	case len(in.Owners[dangling])+len(in.Owners[waiting]) == 0:
		return Plan{}
	case len(in.Owners[waiting]) > 0 && in.Dependents:
		return Plan{Unblock: in.Circular, Delete: metav1.DeletePropagationForeground}
	case slices.Contains(in.Finalizers, metav1.FinalizerOrphanDependents):
		return Plan{Delete: metav1.DeletePropagationOrphan}
	case slices.Contains(in.Finalizers, metav1.FinalizerDeleteDependents):
		return Plan{Delete: metav1.DeletePropagationForeground}
	default:
		return Plan{Delete: metav1.DeletePropagationBackground}
	}
}
