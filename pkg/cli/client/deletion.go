package client

import (
	"context"
	"errors"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// errElsewhere says that an address is on another server.
var errElsewhere = errors.New("the address is on another server")

// DeleteThisWorkspace starts the deletion of ws, which is in parent, if it is still the
// same one. dryRun makes the server check it only.
func (c *Client) DeleteThisWorkspace(ctx context.Context, parent logicalcluster.Path, ws *tenancyv1alpha1.Workspace, dryRun bool) error {
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &ws.UID},
	}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return c.remove(ctx, workspaces(parent, ws.Name), options)
}

// CountOf returns how many objects of a resource there are in the workspace p.
func (c *Client) CountOf(ctx context.Context, p logicalcluster.Path, gvr schema.GroupVersionResource) (int, error) {
	return c.countAt(ctx, resource(p, gvr, ""))
}

// pathOf returns the path of an address on this server. Credentials are not taken to
// another one.
func (c *Client) pathOf(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	base := c.server.Get().AbsPath().URL()
	below, ok := strings.CutPrefix(u.Path, strings.TrimRight(base.Path, "/")+"/")
	if !ok || !strings.EqualFold(u.Host, base.Host) || u.Scheme != base.Scheme {
		return nil, errElsewhere
	}
	return strings.Split(strings.TrimRight(below, "/"), "/"), nil
}
