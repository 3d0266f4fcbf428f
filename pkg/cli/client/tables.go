package client

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// rowsOnly asks for what "kubectl get" shows, by those who want no more than that: of
// ten thousand objects it is a tenth of what the objects are.
const rowsOnly = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"

// Table returns the objects of a resource in the workspace p as the server would show
// them, without the objects themselves.
func (c *Client) Table(ctx context.Context, p logicalcluster.Path, gvr schema.GroupVersionResource) (*metav1.Table, error) {
	all := &metav1.Table{}
	next := ""
	for {
		request := c.server.Get().AbsPath(resourcePath(p, gvr)...).SetHeader("Accept", rowsOnly).
			Param("includeObject", string(metav1.IncludeNone)).Param("limit", strconv.Itoa(pageSize))
		if next != "" {
			request = request.Param("continue", next)
		}
		var page metav1.Table
		if err := decode(request.Do(ctx), &page); err != nil {
			return nil, err
		}
		if next == "" {
			all.ColumnDefinitions = page.ColumnDefinitions
		}
		all.Rows = append(all.Rows, page.Rows...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

// Objects returns the objects of a resource in the workspace p, of all namespaces, with
// every field that the server has sent.
func (c *Client) Objects(ctx context.Context, p logicalcluster.Path, gvr schema.GroupVersionResource) ([]unstructured.Unstructured, error) {
	return list[unstructured.Unstructured](ctx, c, resourcePath(p, gvr))
}

// resourcePath is the path of all objects of a resource.
func resourcePath(p logicalcluster.Path, gvr schema.GroupVersionResource) []string {
	if gvr.Group == "" {
		return at(p, "api", gvr.Version, gvr.Resource)
	}
	return at(p, "apis", gvr.Group, gvr.Version, gvr.Resource)
}
