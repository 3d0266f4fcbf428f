// Package conditions holds the condition type of all our API kinds and the only
// functions that should write it.
//
// It is not metav1.Condition: there is no observedGeneration, and a condition that
// is False says how bad that is. What callers may rely on:
//
//  1. A list has at most one condition of a type; it is sorted by type, with Ready
//     first.
//  2. Reason, message and severity belong to a condition that is not True; severity
//     only to one that is False.
//  3. The transition time changes when, and only when, status, reason, severity or
//     message do. It has whole seconds and is in UTC, as it is on the wire.
//
// So writing what is there already changes nothing, and comparing an object before
// and after tells whether it must be stored.
//
// The functions change the object they are given and do no locking; give them a
// copy, never an object out of a cache.
//
// +kubebuilder:object:generate=true
package conditions
