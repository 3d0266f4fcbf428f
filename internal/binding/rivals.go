package binding

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Rival is something that has a resource of a workspace, or names of one.
type Rival struct {
	Resource apischema.GroupResource
	// Names are those it has, in the group of the resource.
	Names apiextensionsv1.CustomResourceDefinitionNames
	// By is how messages call it: `APIBinding "x" bound to APIExport root:org:y`.
	By string
	// Lock is by what the LogicalCluster knows it; zero for what is there for good, or has
	// names only.
	Lock Lock

	// own says that it belongs to the same binding.
	own bool
}

// BuiltIn returns the rival that a built-in or system API is.
func BuiltIn(resource apischema.GroupResource, names apiextensionsv1.CustomResourceDefinitionNames) Rival {
	return Rival{Resource: resource, Names: names, By: fmt.Sprintf("the built-in API %s", resource)}
}

// OfDefinition returns the rival that a CustomResourceDefinition of the workspace is;
// established says whether it has got the resource, and not names alone.
func OfDefinition(crd *apiextensionsv1.CustomResourceDefinition, established bool) Rival {
	rival := Rival{
		Resource: schema.ResourceOf(crd),
		Names:    crd.Status.AcceptedNames,
		By:       fmt.Sprintf("CustomResourceDefinition %q", crd.Name),
	}
	if established {
		rival.Lock = Lock{CRD: true}
	}
	return rival
}

// OfBinding returns the rivals that what another binding of the workspace gives is.
// definition returns what a resource is served by, nil if that is not known: then it
// stands for its plural name.
func OfBinding(b *apisv1alpha2.APIBinding, definition func(apisv1alpha2.BoundAPIResource) *schema.Definition) []Rival {
	rivals := make([]Rival, 0, len(b.Status.BoundResources))
	for _, bound := range b.Status.BoundResources {
		rival := Rival{
			Resource: resourceOf(bound),
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: bound.Resource},
			By:       describe(b),
			Lock:     Lock{Binding: b.Name},
		}
		if d := definition(bound); d != nil {
			rival.Names = d.CRD.Status.AcceptedNames
		}
		rivals = append(rivals, rival)
	}
	return rivals
}

func describe(b *apisv1alpha2.APIBinding) string {
	reference := b.Spec.Reference.Export
	switch {
	case reference == nil:
		return fmt.Sprintf("APIBinding %q", b.Name)
	case reference.Path == "":
		return fmt.Sprintf("APIBinding %q bound to local APIExport %q", b.Name, reference.Name)
	default:
		return fmt.Sprintf("APIBinding %q bound to APIExport %s:%s", b.Name, reference.Path, reference.Name)
	}
}

// clash returns a name that both have, as a field and its value; empty if there is none.
// Plural, singular and short names are of one sort, kinds and list kinds of another.
func (r *Rival) clash(group string, names *apiextensionsv1.CustomResourceDefinitionNames) string {
	if r.Resource.Group != group || r.own && r.Names.Plural == names.Plural {
		return ""
	}
	resources := append([]string{r.Names.Plural, r.Names.Singular}, r.Names.ShortNames...)
	kinds := []string{r.Names.Kind, r.Names.ListKind}
	has := func(all []string, name string) bool { return name != "" && slices.Contains(all, name) }
	switch {
	case has(resources, names.Plural):
		return "spec.names.plural=" + names.Plural
	case has(resources, names.Singular):
		return "spec.names.singular=" + names.Singular
	case has(kinds, names.Kind):
		return "spec.names.kind=" + names.Kind
	case has(kinds, names.ListKind):
		return "spec.names.listKind=" + names.ListKind
	}
	for _, short := range names.ShortNames {
		if has(resources, short) {
			return "spec.names.shortNames=" + short
		}
	}
	return ""
}
