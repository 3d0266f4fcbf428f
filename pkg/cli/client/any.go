package client

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// resource returns the path of a resource, in a namespace if one is named.
func resource(p logicalcluster.Path, gvr schema.GroupVersionResource, namespace string, name ...string) []string {
	path := []string{"apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		path = []string{"api", gvr.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(at(p, append(path, gvr.Resource)...), name...)
}

// Get returns the object called name of a resource without namespaces in the workspace p,
// of whatever kind.
func Get[T any](ctx context.Context, c *Client, p logicalcluster.Path, gvr schema.GroupVersionResource, name string) (*T, error) {
	object := new(T)
	if err := c.get(ctx, resource(p, gvr, "", name), nil, object); err != nil {
		return nil, err
	}
	return object, nil
}

// List returns the objects of a resource in the workspace p, of whatever kind.
func List[T any](ctx context.Context, c *Client, p logicalcluster.Path, gvr schema.GroupVersionResource) ([]T, error) {
	return list[T](ctx, c, resource(p, gvr, ""))
}

// Metadata returns what is common to all objects of a resource in the workspace p, and
// nothing else of them.
func (c *Client) Metadata(ctx context.Context, p logicalcluster.Path, gvr schema.GroupVersionResource) ([]metav1.PartialObjectMetadata, error) {
	request := c.server.Get().AbsPath(resource(p, gvr, "")...).SetHeader("Accept", metadataOnly)
	var found struct {
		Items []metav1.PartialObjectMetadata `json:"items"`
	}
	if err := decode(request.Do(ctx), &found); err != nil {
		return nil, err
	}
	return found.Items, nil
}

// jsonPatch changes what is at the path by a JSON patch.
func (c *Client) jsonPatch(ctx context.Context, path []string, patch []byte, object any) error {
	if err := c.mayWrite(path); err != nil {
		return err
	}
	request := c.server.Patch(types.JSONPatchType).AbsPath(path...)
	return c.send(ctx, request, string(types.JSONPatchType), json.RawMessage(patch), object)
}
