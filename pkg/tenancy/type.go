package tenancy

import (
	"slices"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// UniversalType is the name of the type, in root, whose workspaces have namespaces
	// and may hold workspaces.
	UniversalType = "universal"

	// rootType is the name that only a type in root may have.
	rootType = "root"

	separator = ":"
)

// Type is a WorkspaceType where it was found.
type Type struct {
	Place

	// Object is shared and must not be changed.
	Object *tenancyv1alpha1.WorkspaceType
}

// String returns "<canonical path>:<name>", as constraints and messages spell it.
func (t Type) String() string { return t.Path.String() + separator + t.Object.Name }

// Reference returns the reference that always leads to t.
func (t Type) Reference() tenancyv1alpha1.WorkspaceTypeReference {
	return tenancyv1alpha1.WorkspaceTypeReference{Name: t.Object.Name, Path: t.Path.String()}
}

// Initializer returns the identifier of the type's own initializer.
func (t Type) Initializer() corev1alpha1.Initializer {
	return corev1alpha1.Initializer(t.identifier())
}

// Terminator returns the identifier of the type's own terminator.
func (t Type) Terminator() corev1alpha1.Terminator { return corev1alpha1.Terminator(t.identifier()) }

// identifier has the cluster, not the path, on its left: it must stay the same, and
// unique, however long a workspace waits for it.
func (t Type) identifier() string { return t.Cluster.String() + separator + t.Object.Name }

// Is says whether both are the same type.
func (t Type) Is(other Type) bool { return t.key() == other.key() }

func (t Type) key() typeKey { return typeKey{t.Cluster, t.Object.Name} }

type typeKey struct {
	cluster logicalcluster.Name
	name    string
}

// Set is a type with all the types it extends.
type Set struct {
	// Type is the one the set was made for.
	Type Type

	// Bases are the types that it names to extend itself, in order.
	Bases []Type

	// Aliases are the types a workspace of Type may pass for: those it extends,
	// directly or not, in the order in which they are named, each with those it
	// extends behind it, and Type at the end. Each is there once.
	Aliases []Type
}

// Names returns the names of the aliases, sorted.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.Aliases))
	for _, alias := range s.Aliases {
		names = append(names, alias.String())
	}
	slices.Sort(names)
	return names
}

// IsUniversal says whether the type is, or extends, universal in root.
func (s *Set) IsUniversal() bool {
	return slices.ContainsFunc(s.Aliases, func(alias Type) bool {
		return alias.Cluster == logicalcluster.Root && alias.Object.Name == UniversalType
	})
}

// Initializers returns the initializers a new logical cluster of the type waits for:
// those of the aliases, and at the end the one that makes default API bindings.
func (s *Set) Initializers() []corev1alpha1.Initializer {
	var initializers []corev1alpha1.Initializer
	bindings := false
	for _, alias := range s.Aliases {
		if alias.Object.Spec.Initializer {
			initializers = append(initializers, alias.Initializer())
		}
		bindings = bindings || len(alias.Object.Spec.DefaultAPIBindings) > 0
	}
	if bindings {
		initializers = append(initializers, corev1alpha1.InitializerAPIBindings)
	}
	return initializers
}

// Terminators returns the terminators a logical cluster of the type waits for when
// it is deleted.
func (s *Set) Terminators() []corev1alpha1.Terminator {
	var terminators []corev1alpha1.Terminator
	for _, alias := range s.Aliases {
		if alias.Object.Spec.Terminator {
			terminators = append(terminators, alias.Terminator())
		}
	}
	return terminators
}

// TypeAnnotation returns the value of the type annotation of a logical cluster whose
// Workspace has the type reference points at. The path is kept as it was given.
func TypeAnnotation(reference tenancyv1alpha1.WorkspaceTypeReference) string {
	return reference.Path + separator + reference.Name
}

// MayBeNamed says whether a type in cluster may have that name as far as the names
// go that only the server hands out.
func MayBeNamed(cluster logicalcluster.Name, name string) bool {
	return name != rootType || cluster == logicalcluster.Root
}
