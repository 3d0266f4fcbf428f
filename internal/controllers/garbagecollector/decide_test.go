package garbagecollector

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestDecide(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		in     Input
		want   Plan
	}{
		"NoOwners": {
			reason: "what lost its references in the meantime is nobody's garbage",
		},
		"Solid": {
			reason: "an owner that exists is enough",
			in:     Input{Owners: map[standing][]types.UID{solid: {"a"}}},
		},
		"SolidAndDangling": {
			reason: "with one left, the others are cleaned up",
			in:     Input{Owners: map[standing][]types.UID{solid: {"a"}, dangling: {"b"}, waiting: {"c"}}},
			want:   Plan{Release: []types.UID{"b", "c"}},
		},
		"Dangling": {
			reason: "nobody is left",
			in:     Input{Owners: map[standing][]types.UID{dangling: {"a", "b"}}},
			want:   Plan{Delete: metav1.DeletePropagationBackground},
		},
		"DanglingWithOrphanFinalizer": {
			reason: "whoever set the finalizer wants the dependents kept",
			in:     Input{Owners: map[standing][]types.UID{dangling: {"a"}}, Finalizers: []string{"x", metav1.FinalizerOrphanDependents}},
			want:   Plan{Delete: metav1.DeletePropagationOrphan},
		},
		"DanglingWithForegroundFinalizer": {
			reason: "whoever set the finalizer wants the dependents gone first",
			in:     Input{Owners: map[standing][]types.UID{dangling: {"a"}}, Finalizers: []string{metav1.FinalizerDeleteDependents}},
			want:   Plan{Delete: metav1.DeletePropagationForeground},
		},
		"WaitingWithoutDependents": {
			reason: "there is nothing to wait for below",
			in:     Input{Owners: map[standing][]types.UID{waiting: {"a"}}},
			want:   Plan{Delete: metav1.DeletePropagationBackground},
		},
		"WaitingWithDependents": {
			reason: "the owner must not go before the dependents of its dependents",
			in:     Input{Owners: map[standing][]types.UID{waiting: {"a"}, dangling: {"b"}}, Dependents: true},
			want:   Plan{Delete: metav1.DeletePropagationForeground},
		},
		"WaitingInACircle": {
			reason: "of objects that wait for each other one has to stop blocking",
			in:     Input{Owners: map[standing][]types.UID{waiting: {"a"}}, Dependents: true, Circular: true},
			want:   Plan{Unblock: true, Delete: metav1.DeletePropagationForeground},
		},
		"DanglingWithDependents": {
			reason: "nobody waits, so nothing has to go first",
			in:     Input{Owners: map[standing][]types.UID{dangling: {"a"}}, Dependents: true, Circular: true},
			want:   Plan{Delete: metav1.DeletePropagationBackground},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Decide(tc.in), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
