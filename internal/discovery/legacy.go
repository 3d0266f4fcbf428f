package discovery

import (
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery"
)

// legacyGroup returns the entry of a group in the old form.
func legacyGroup(group apidiscoveryv2.APIGroupDiscovery) metav1.APIGroup {
	legacy := metav1.APIGroup{Name: group.Name}
	for _, v := range group.Versions {
		gv := apischema.GroupVersion{Group: group.Name, Version: v.Version}
		legacy.Versions = append(legacy.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version})
	}
	legacy.PreferredVersion = legacy.Versions[0]
	return legacy
}

// legacyResources returns the resources of a version in the old form, where a
// subresource is an entry of its own. stored says as which kind the objects of a
// definition are stored.
func legacyResources(gv apischema.GroupVersion, resources []apidiscoveryv2.APIResourceDiscovery, stored map[apischema.GroupResource]apischema.GroupVersionKind) []metav1.APIResource {
	legacy := make([]metav1.APIResource, 0, 2*len(resources))
	for _, r := range resources {
		entry := metav1.APIResource{
			Name:         r.Resource,
			SingularName: r.SingularResource,
			Namespaced:   r.Scope == apidiscoveryv2.ScopeNamespace,
			Verbs:        r.Verbs,
			ShortNames:   r.ShortNames,
			Categories:   r.Categories,
		}
		setKind(&entry, gv, r.ResponseKind)
		entry.StorageVersionHash = storageVersionHash(gv, r, stored)
		legacy = append(legacy, entry)

		for _, sub := range r.Subresources {
			entry := metav1.APIResource{
				Name:       r.Resource + "/" + sub.Subresource,
				Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace,
				Verbs:      sub.Verbs,
			}
			setKind(&entry, gv, sub.ResponseKind)
			legacy = append(legacy, entry)
		}
	}
	slices.SortStableFunc(legacy, func(x, y metav1.APIResource) int { return strings.Compare(x.Name, y.Name) })
	return legacy
}

// setKind sets the kind, and its group and version if they are not those of the list.
func setKind(entry *metav1.APIResource, gv apischema.GroupVersion, response *metav1.GroupVersionKind) {
	kind := absolute(response, gv)
	entry.Kind = kind.Kind
	if kind.GroupVersion() != gv {
		entry.Group, entry.Version = kind.Group, kind.Version
	}
}

// storageVersionHash lets storage migrators notice that objects are stored in another
// version than before. Only what can be listed is stored.
func storageVersionHash(gv apischema.GroupVersion, resource apidiscoveryv2.APIResourceDiscovery, stored map[apischema.GroupResource]apischema.GroupVersionKind) string {
	if !slices.Contains(resource.Verbs, "list") {
		return ""
	}
	kind, known := stored[apischema.GroupResource{Group: gv.Group, Resource: resource.Resource}]
	if !known {
		kind = absolute(resource.ResponseKind, gv)
		if kind.Kind == "Event" {
			// Events of both groups are the same stored objects.
			kind = corev1.SchemeGroupVersion.WithKind(kind.Kind)
		}
	}
	return discovery.StorageVersionHash(kind.Group, kind.Version, kind.Kind)
}

// absolute returns a kind with its group and version, which aggregated documents leave
// out where they are those of the list.
func absolute(kind *metav1.GroupVersionKind, gv apischema.GroupVersion) apischema.GroupVersionKind {
	switch {
	case kind == nil:
		return apischema.GroupVersionKind{}
	case kind.Version == "":
		return gv.WithKind(kind.Kind)
	default:
		return apischema.GroupVersionKind(*kind)
	}
}
