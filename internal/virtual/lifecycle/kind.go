package lifecycle

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// words are how a kind of hooks is spoken of.
type words struct {
	// verb is what is permitted on the workspace type, noun one hook.
	verb, noun string
	// field is the list of hooks in the status, and other that of the other kind.
	field, other *field.Path
}

var (
	initializers = field.NewPath("status", "initializers")
	terminators  = field.NewPath("status", "terminators")
)

func wordsFor(kind tenancy.HookKind) words {
	if kind == tenancy.Terminating {
		return words{verb: "terminate", noun: "terminator", field: terminators, other: initializers}
	}
	return words{verb: "initialize", noun: "initializer", field: initializers, other: terminators}
}

// pending returns the hooks of a kind in the status of lc.
func pending(kind tenancy.HookKind, lc *corev1alpha1.LogicalCluster) []string {
	if kind == tenancy.Terminating {
		return asStrings(lc.Status.Terminators)
	}
	return asStrings(lc.Status.Initializers)
}

// intended returns the hooks of a kind that lc has had from the beginning.
func intended(kind tenancy.HookKind, lc *corev1alpha1.LogicalCluster) []string {
	if kind == tenancy.Terminating {
		return asStrings(lc.Spec.Terminators)
	}
	return asStrings(lc.Spec.Initializers)
}

func asStrings[T ~string](of []T) []string {
	all := make([]string, len(of))
	for i, one := range of {
		all[i] = string(one)
	}
	return all
}
