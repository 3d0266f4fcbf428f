package client

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// everywherePage is how many workspaces are asked for at a time where all of them are:
// each page is a walk through an index on the server.
const everywherePage = 2500

// errSpread says that a server has only a part of the workspaces.
var errSpread = errors.New("there are several shards, and each has only its own workspaces")

// Everywhere is all workspaces of a server at once. Only few may ask for that.
type Everywhere struct {
	client *Client
	// path leads to the workspaces of all clusters.
	path []string
}

// Everywhere returns all workspaces of the server. An error says that it does not let the
// caller ask, or that it does not have all of them.
func (c *Client) Everywhere(ctx context.Context) (*Everywhere, error) {
	root := logicalcluster.Root.Path()
	shards, err := list[metav1.PartialObjectMetadata](ctx, c, at(root, "apis", coreGroup, coreVersion, "shards"))
	if err != nil {
		return nil, err
	}
	if len(shards) != 1 {
		return nil, errSpread
	}
	// Workspaces are bound, and the exports that something bound belongs to are told apart
	// by their identities where there are no bindings.
	var export struct {
		Status struct {
			IdentityHash string `json:"identityHash"`
		} `json:"status"`
	}
	if err := c.get(ctx, at(root, "apis", apisGroup, v1alpha1, "apiexports", tenancyGroup), nil, &export); err != nil {
		return nil, err
	}
	if export.Status.IdentityHash == "" {
		return nil, fmt.Errorf("the export %s has no identity", tenancyGroup)
	}
	path := at(logicalcluster.Wildcard.Path(), "apis", tenancyGroup, tenancyVersion, "workspaces:"+export.Status.IdentityHash)
	return &Everywhere{client: c, path: path}, nil
}

// Pages is Client.Pages for all workspaces. The annotation logicalcluster.AnnotationKey
// says in which logical cluster each of them is.
func (e *Everywhere) Pages(ctx context.Context, each func([]tenancyv1alpha1.Workspace) error) (version string, err error) {
	return e.client.pages(ctx, e.path, everywherePage, each)
}

// Watch is Client.Watch for all workspaces.
func (e *Everywhere) Watch(ctx context.Context, version string, started func(), each func(Watched) error) error {
	return e.client.watchAt(ctx, e.path, version, started, each)
}

// AllWorkspaces returns all workspaces by the name of the logical cluster that they are
// in, those in one in the order of the server.
func (c *Client) AllWorkspaces(ctx context.Context) (map[string][]tenancyv1alpha1.Workspace, error) {
	everywhere, err := c.Everywhere(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]tenancyv1alpha1.Workspace{}
	_, err = everywhere.Pages(ctx, func(page []tenancyv1alpha1.Workspace) error {
		for i := range page {
			cluster := page[i].Annotations[logicalcluster.AnnotationKey]
			all[cluster] = append(all[cluster], page[i])
		}
		return nil
	})
	return all, err
}
