package client

import (
	"context"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// aggregated asks for everything that discovery knows in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Resources returns the resources whose objects can be listed in the workspace p, each in
// the version that the server prefers.
func (c *Client) Resources(ctx context.Context, p logicalcluster.Path) ([]schema.GroupVersionResource, error) {
	var all []schema.GroupVersionResource
	for _, root := range []string{"api", "apis"} {
		var found apidiscoveryv2.APIGroupDiscoveryList
		request := c.server.Get().AbsPath(at(p, root)...).SetHeader("Accept", aggregated)
		if err := decode(request.Do(ctx), &found); err != nil {
			return nil, err
		}
		for _, group := range found.Items {
			all = append(all, listable(group)...)
		}
	}
	return all, nil
}

// listable returns the resources of a group that can be listed, each once.
func listable(group apidiscoveryv2.APIGroupDiscovery) []schema.GroupVersionResource {
	var found []schema.GroupVersionResource
	for _, version := range group.Versions {
		for _, r := range version.Resources {
			known := slices.ContainsFunc(found, func(gvr schema.GroupVersionResource) bool { return gvr.Resource == r.Resource })
			if !known && slices.Contains(r.Verbs, "list") {
				found = append(found, schema.GroupVersionResource{Group: group.Name, Version: version.Version, Resource: r.Resource})
			}
		}
	}
	return found
}
