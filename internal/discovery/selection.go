package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
)

// newSelectedDocument joins the built-in groups and the definitions of a selection. The
// core group is there even if nothing of it is: clients expect it to be.
func newSelectedDocument(builtins []apidiscoveryv2.APIGroupDiscovery, selection schema.Selection) (*document, error) {
	var groups []apidiscoveryv2.APIGroupDiscovery
	for i := range builtins {
		group := builtins[i]
		group.Versions = selectVersions(&builtins[i], selection)
		if len(group.Versions) > 0 {
			groups = append(groups, group)
		}
	}
	merged := newMerge(groups)
	merged.limit = func(gv apischema.GroupVersion, resource apidiscoveryv2.APIResourceDiscovery) apidiscoveryv2.APIResourceDiscovery {
		if shown, ok := selection.Find(apischema.GroupResource{Group: gv.Group, Resource: resource.Resource}); ok {
			return limited(resource, shown)
		}
		return resource
	}
	for _, served := range selection.Definitions {
		merged.add(served)
	}
	return merged.document()
}

// selectVersions returns the versions of a built-in group with what is selected of them.
func selectVersions(group *apidiscoveryv2.APIGroupDiscovery, selection schema.Selection) []apidiscoveryv2.APIVersionDiscovery {
	var versions []apidiscoveryv2.APIVersionDiscovery
	for _, version := range group.Versions {
		var resources []apidiscoveryv2.APIResourceDiscovery
		for _, resource := range version.Resources {
			if shown, ok := selection.Find(apischema.GroupResource{Group: group.Name, Resource: resource.Resource}); ok {
				resources = append(resources, limited(resource, shown))
			}
		}
		if len(resources) > 0 || group.Name == "" {
			version.Resources = resources
			versions = append(versions, version)
		}
	}
	return versions
}

// limited returns what is shown of a resource.
func limited(resource apidiscoveryv2.APIResourceDiscovery, shown schema.Shown) apidiscoveryv2.APIResourceDiscovery {
	if shown.Verbs != nil {
		resource.Verbs = slices.DeleteFunc(slices.Clone(resource.Verbs), func(verb string) bool { return !slices.Contains(shown.Verbs, verb) })
	}
	resource.Subresources = slices.DeleteFunc(slices.Clone(resource.Subresources), func(sub apidiscoveryv2.APISubresourceDiscovery) bool {
		return !slices.Contains(shown.Subresources, sub.Subresource)
	})
	return resource
}
