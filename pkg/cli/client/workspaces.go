package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	tenancyGroup   = "tenancy.kcp.io"
	tenancyVersion = "v1alpha1"
	coreGroup      = "core.kcp.io"
	coreVersion    = "v1alpha1"

	// homeName is the name under which everybody finds their own home workspace.
	homeName = "~"
	// logicalClusterName is the name of the one LogicalCluster in each workspace.
	logicalClusterName = "cluster"

	// pageSize is what kubectl asks for, too.
	pageSize = 500
)

func workspaces(parent logicalcluster.Path, name ...string) []string {
	return append(at(parent, "apis", tenancyGroup, tenancyVersion, "workspaces"), name...)
}

// Workspace returns the Workspace called name in parent.
func (c *Client) Workspace(ctx context.Context, parent logicalcluster.Path, name string) (*tenancyv1alpha1.Workspace, error) {
	ws := &tenancyv1alpha1.Workspace{}
	if err := c.get(ctx, workspaces(parent, name), nil, ws); err != nil {
		return nil, err
	}
	return ws, nil
}

// Home returns the home workspace of the caller; the server may make it for that.
func (c *Client) Home(ctx context.Context) (*tenancyv1alpha1.Workspace, error) {
	return c.Workspace(ctx, logicalcluster.Root.Path(), homeName)
}

// Workspaces returns the Workspaces in parent in the order of the server.
func (c *Client) Workspaces(ctx context.Context, parent logicalcluster.Path) ([]tenancyv1alpha1.Workspace, error) {
	return list[tenancyv1alpha1.Workspace](ctx, c, workspaces(parent))
}

// CreateWorkspace creates a Workspace in parent and returns what the server made of it.
func (c *Client) CreateWorkspace(ctx context.Context, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) (*tenancyv1alpha1.Workspace, error) {
	return c.createWorkspace(ctx, parent, ws, nil)
}

// CheckWorkspace returns what the server would make of a Workspace in parent. Nothing is
// stored.
func (c *Client) CheckWorkspace(ctx context.Context, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace) (*tenancyv1alpha1.Workspace, error) {
	return c.createWorkspace(ctx, parent, ws, map[string]string{"dryRun": metav1.DryRunAll})
}

func (c *Client) createWorkspace(ctx context.Context, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, params map[string]string) (*tenancyv1alpha1.Workspace, error) {
	ws = ws.DeepCopy()
	ws.TypeMeta = metav1.TypeMeta{APIVersion: tenancyGroup + "/" + tenancyVersion, Kind: "Workspace"}
	created := &tenancyv1alpha1.Workspace{}
	if err := c.create(ctx, workspaces(parent), params, ws, created); err != nil {
		return nil, err
	}
	return created, nil
}

// DeleteWorkspace starts the deletion of the Workspace called name in parent.
func (c *Client) DeleteWorkspace(ctx context.Context, parent logicalcluster.Path, name string) error {
	return c.remove(ctx, workspaces(parent, name), metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}})
}

// LogicalCluster returns what the workspace p says about itself.
func (c *Client) LogicalCluster(ctx context.Context, p logicalcluster.Path) (*corev1alpha1.LogicalCluster, error) {
	lc := &corev1alpha1.LogicalCluster{}
	err := c.get(ctx, at(p, "apis", coreGroup, coreVersion, "logicalclusters", logicalClusterName), nil, lc)
	if err != nil {
		return nil, err
	}
	return lc, nil
}
