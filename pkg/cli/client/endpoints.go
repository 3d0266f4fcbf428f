package client

import (
	"context"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ExportEndpoints returns the addresses at which the provider of the export called name in
// the workspace p finds what others have made of its APIs.
func (c *Client) ExportEndpoints(ctx context.Context, p logicalcluster.Path, name string) ([]string, error) {
	slices, err := list[apisv1alpha1.APIExportEndpointSlice](ctx, c, at(p, "apis", apisGroup, v1alpha1, "apiexportendpointslices"))
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, s := range slices {
		if s.Spec.APIExport.Name != name || s.Spec.APIExport.Path != "" && s.Spec.APIExport.Path != p.String() {
			continue
		}
		for _, endpoint := range s.Status.APIExportEndpoints {
			urls = append(urls, endpoint.URL)
		}
	}
	return urls, nil
}

// WorkspaceType returns the WorkspaceType called name in the workspace p.
func (c *Client) WorkspaceType(ctx context.Context, p logicalcluster.Path, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	t := &tenancyv1alpha1.WorkspaceType{}
	if err := c.get(ctx, at(p, "apis", tenancyGroup, tenancyVersion, "workspacetypes", name), nil, t); err != nil {
		return nil, err
	}
	return t, nil
}

// VirtualWorkspacesOf returns, by the name of the shard, where its virtual workspaces are.
func (c *Client) VirtualWorkspacesOf(ctx context.Context) (map[string]string, error) {
	shards, err := list[corev1alpha1.Shard](ctx, c, at(logicalcluster.Root.Path(), "apis", coreGroup, coreVersion, "shards"))
	if err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for i := range shards {
		urls[shards[i].Name] = shards[i].Spec.VirtualWorkspaceURL
	}
	return urls, nil
}
