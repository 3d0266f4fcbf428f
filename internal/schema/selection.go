package schema

import apischema "k8s.io/apimachinery/pkg/runtime/schema"

// Selection is a part of what there is, for those who are shown no more: what a virtual
// workspace serves.
type Selection struct {
	// Definitions are what is served by definitions, sorted as Served.Compare does.
	Definitions []Served
	// Shown are the built-in resources in the selection, and how much is shown of them.
	// A definition that is among them is limited in the same way; others are not.
	Shown []Shown
}

// Shown says how much of a resource is shown.
type Shown struct {
	Resource apischema.GroupResource
	// Verbs are those that are shown; all if it is nil.
	Verbs []string
	// Subresources are those that are shown. There are no others.
	Subresources []string
}

// Find returns how much is shown of a resource. ok is false if nothing is said of it.
func (s Selection) Find(resource apischema.GroupResource) (shown Shown, ok bool) {
	for _, shown := range s.Shown {
		if shown.Resource == resource {
			return shown, true
		}
	}
	return Shown{}, false
}
