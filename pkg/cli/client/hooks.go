package client

import (
	"context"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Hook is the virtual workspace of an initializer or a terminator.
type Hook struct {
	client *Client
	// service is the name of the sort of virtual workspaces, id that of the hook.
	service, id string
}

// Initializer returns the virtual workspace of an initializer by its identifier.
func (c *Client) Initializer(id string) *Hook {
	return &Hook{client: c, service: "initializingworkspaces", id: id}
}

// Terminator returns the virtual workspace of a terminator by its identifier.
func (c *Client) Terminator(id string) *Hook {
	return &Hook{client: c, service: "terminatingworkspaces", id: id}
}

func (h *Hook) path(cluster string, more ...string) []string {
	path := []string{"services", h.service, h.id, "clusters", cluster, "apis", coreGroup, coreVersion, "logicalclusters"}
	return append(path, more...)
}

// Waiting returns the logical clusters that wait for the hook.
func (h *Hook) Waiting(ctx context.Context) ([]corev1alpha1.LogicalCluster, error) {
	return list[corev1alpha1.LogicalCluster](ctx, h.client, h.path(logicalcluster.Wildcard.String()))
}

// PatchStatus changes the status of a logical cluster that waits, by a JSON patch.
func (h *Hook) PatchStatus(ctx context.Context, cluster string, patch []byte) error {
	return h.client.jsonPatch(ctx, h.path(cluster, logicalClusterName, "status"), patch, &corev1alpha1.LogicalCluster{})
}

// PatchLogicalClusterStatus changes the status of the LogicalCluster of the workspace p by
// a JSON patch.
func (c *Client) PatchLogicalClusterStatus(ctx context.Context, p logicalcluster.Path, patch []byte) error {
	path := at(p, "apis", coreGroup, coreVersion, "logicalclusters", logicalClusterName, "status")
	return c.jsonPatch(ctx, path, patch, &corev1alpha1.LogicalCluster{})
}
