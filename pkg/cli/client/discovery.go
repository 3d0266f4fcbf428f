package client

import (
	"context"
	"encoding/json"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// metadataOnly asks for what is common to all objects, so that counting them does not
// transfer them.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// Group returns the versions of an API group in the workspace p. A group that is not
// there is "not found".
func (c *Client) Group(ctx context.Context, p logicalcluster.Path, group string) (*metav1.APIGroup, error) {
	found := &metav1.APIGroup{}
	return found, c.get(ctx, at(p, "apis", group), nil, found)
}

// Definitions returns the CustomResourceDefinitions in the workspace p, or of a server
// that has no workspaces if p is empty.
func (c *Client) Definitions(ctx context.Context, p logicalcluster.Path) ([]apiextensionsv1.CustomResourceDefinition, error) {
	definitions, err := list[apiextensionsv1.CustomResourceDefinition](ctx, c, at(p, "apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"))
	return definitions, c.Explain(ctx, p, err)
}

// Count returns how many objects of a resource there are in the workspace p, in
// whichever version they are served.
func (c *Client) Count(ctx context.Context, p logicalcluster.Path, gr schema.GroupResource) (int, error) {
	if gr.Group == "" {
		return c.countAt(ctx, at(p, "api", "v1", gr.Resource))
	}
	group, err := c.Group(ctx, p, gr.Group)
	if err != nil {
		return 0, err
	}
	for _, version := range group.Versions {
		count, err := c.countAt(ctx, at(p, "apis", gr.Group, version.Version, gr.Resource))
		if !apierrors.IsNotFound(err) {
			return count, err
		}
	}
	return 0, apierrors.NewNotFound(gr, "")
}

func (c *Client) countAt(ctx context.Context, path []string) (int, error) {
	count, next := 0, ""
	for {
		request := c.server.Get().AbsPath(path...).SetHeader("Accept", metadataOnly).Param("limit", strconv.Itoa(pageSize))
		if next != "" {
			request = request.Param("continue", next)
		}
		var page struct {
			metav1.ListMeta `json:"metadata"`
			Items           []json.RawMessage `json:"items"`
		}
		if err := decode(request.Do(ctx), &page); err != nil {
			return 0, err
		}
		count += len(page.Items)
		switch {
		case page.Continue == "":
			return count, nil
		case page.RemainingItemCount != nil:
			return count + int(*page.RemainingItemCount), nil
		}
		next = page.Continue
	}
}
