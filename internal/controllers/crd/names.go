package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Names are names in use in one group.
type Names struct {
	// Resources are plural, singular and short names.
	Resources sets.Set[string]
	// Kinds are kinds and list kinds.
	Kinds sets.Set[string]
}

// NewNames returns the names that are in use if all of given are.
func NewNames(given ...apiextensionsv1.CustomResourceDefinitionNames) Names {
	names := Names{Resources: sets.New[string](), Kinds: sets.New[string]()}
	for i := range given {
		names.Add(&given[i])
	}
	return names
}

// Add puts given in use as well.
func (n Names) Add(given *apiextensionsv1.CustomResourceDefinitionNames) {
	insert(n.Resources, given.Plural, given.Singular)
	insert(n.Resources, given.ShortNames...)
	insert(n.Kinds, given.Kind, given.ListKind)
}

// Union returns the names that are in use in n or in other.
func (n Names) Union(other Names) Names {
	return Names{Resources: n.Resources.Union(other.Resources), Kinds: n.Kinds.Union(other.Kinds)}
}

func insert(set sets.Set[string], names ...string) {
	for _, name := range names {
		if name != "" {
			set.Insert(name)
		}
	}
}

// conflict is a name that cannot be accepted.
type conflict struct{ reason, message string }

// accept returns the names a definition has when it asks for requested, had accepted
// before, and inUse are those of others. Each name is accepted by itself; what is in
// conflict stays what it was. The last conflict is reported.
func accept(requested, accepted apiextensionsv1.CustomResourceDefinitionNames, inUse Names) (apiextensionsv1.CustomResourceDefinitionNames, *conflict) {
	result := *accepted.DeepCopy()
	var last *conflict
	for _, name := range []struct {
		requested string
		accepted  *string
		inUse     sets.Set[string]
		reason    string
	}{
		{requested.Plural, &result.Plural, inUse.Resources, "PluralConflict"},
		{requested.Singular, &result.Singular, inUse.Resources, "SingularConflict"},
	} {
		if c := acceptOne(name.requested, name.accepted, name.inUse, name.reason); c != nil {
			last = c
		}
	}
	if c := acceptShortNames(requested.ShortNames, &result, inUse.Resources); c != nil {
		last = c
	}
	if c := acceptOne(requested.Kind, &result.Kind, inUse.Kinds, "KindConflict"); c != nil {
		last = c
	}
	if c := acceptOne(requested.ListKind, &result.ListKind, inUse.Kinds, "ListKindConflict"); c != nil {
		last = c
	}
	// Categories are for many resources and conflict with nothing.
	result.Categories = slices.Clone(requested.Categories)
	return result, last
}

func acceptOne(requested string, accepted *string, inUse sets.Set[string], reason string) *conflict {
	if requested != *accepted && inUse.Has(requested) {
		return &conflict{reason: reason, message: inUseMessage(requested)}
	}
	*accepted = requested
	return nil
}

// acceptShortNames accepts all short names or none.
func acceptShortNames(requested []string, accepted *apiextensionsv1.CustomResourceDefinitionNames, inUse sets.Set[string]) *conflict {
	var taken []string
	for _, name := range requested {
		if !slices.Contains(accepted.ShortNames, name) && inUse.Has(name) {
			taken = append(taken, inUseMessage(name))
		}
	}
	switch len(taken) {
	case 0:
		accepted.ShortNames = slices.Clone(requested)
		return nil
	case 1:
		return &conflict{reason: "ShortNamesConflict", message: taken[0]}
	default:
		return &conflict{reason: "ShortNamesConflict", message: "[" + strings.Join(taken, ", ") + "]"}
	}
}

func inUseMessage(name string) string { return fmt.Sprintf("%q is already in use", name) }
