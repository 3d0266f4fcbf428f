package apply

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// kinds knows the resources of a workspace, as far as they were asked for. A document of
// discovery is asked for again when something is not in it, since applying brings more.
type kinds struct {
	client *discovery.DiscoveryClient
	known  map[schema.GroupVersion][]metav1.APIResource
}

func newKinds(config *rest.Config, client *http.Client) (*kinds, error) {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return &kinds{client: c, known: map[schema.GroupVersion][]metav1.APIResource{}}, nil
}

// find returns where objects of a kind are.
func (k *kinds) find(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	isIt := func(r metav1.APIResource) bool { return r.Kind == kind.Kind && !isSubresource(r) }
	resource, ok, err := k.resource(ctx, kind.GroupVersion(), isIt)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("there is no kind %s in %s here", kind.Kind, kind.GroupVersion())
	}
	mapping := &meta.RESTMapping{
		Resource:         kind.GroupVersion().WithResource(resource.Name),
		GroupVersionKind: kind,
		Scope:            meta.RESTScopeRoot,
	}
	if resource.Namespaced {
		mapping.Scope = meta.RESTScopeNamespace
	}
	return mapping, nil
}

// serves says whether a resource is there; in any version, if its version is empty.
func (k *kinds) serves(ctx context.Context, resource schema.GroupVersionResource) (bool, error) {
	isIt := func(r metav1.APIResource) bool { return r.Name == resource.Resource }
	versions := []string{resource.Version}
	if resource.Version == "" {
		var err error
		if versions, err = k.versions(ctx, resource.Group); err != nil {
			return false, err
		}
	}
	for _, version := range versions {
		_, ok, err := k.resource(ctx, schema.GroupVersion{Group: resource.Group, Version: version}, isIt)
		if ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// versions returns those in which there is something of a group.
func (k *kinds) versions(ctx context.Context, group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	found := &metav1.APIGroup{}
	err := k.client.RESTClient().Get().AbsPath("/apis", group).Do(ctx).Into(found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	var versions []string
	for _, v := range found.Versions {
		versions = append(versions, v.Version)
	}
	return versions, err
}

// resource returns what isIt picks of a version of a group.
func (k *kinds) resource(ctx context.Context, version schema.GroupVersion, isIt func(metav1.APIResource) bool) (metav1.APIResource, bool, error) {
	if i := slices.IndexFunc(k.known[version], isIt); i >= 0 {
		return k.known[version][i], true, nil
	}
	list := &metav1.APIResourceList{}
	err := k.client.RESTClient().Get().AbsPath(pathOf(version)...).Do(ctx).Into(list)
	if err != nil && !apierrors.IsNotFound(err) {
		return metav1.APIResource{}, false, err
	}
	k.known[version] = list.APIResources
	i := slices.IndexFunc(list.APIResources, isIt)
	if i < 0 {
		return metav1.APIResource{}, false, nil
	}
	return list.APIResources[i], true, nil
}

func pathOf(version schema.GroupVersion) []string {
	if version.Group == "" {
		return []string{"/api", version.Version}
	}
	return []string{"/apis", version.Group, version.Version}
}

func isSubresource(r metav1.APIResource) bool {
	return strings.Contains(r.Name, "/")
}
