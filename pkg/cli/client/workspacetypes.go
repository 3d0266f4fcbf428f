package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// WriteOptions are what is said beside an object that is written.
type WriteOptions struct {
	// DryRun makes the server check the object and store nothing.
	DryRun bool
	// Strict makes the server refuse fields that it does not know, which it would drop.
	Strict bool
	// FieldManager is who the fields belong to, "" for the name of the program.
	FieldManager string
}

func (o WriteOptions) params() map[string]string {
	params := map[string]string{}
	if o.DryRun {
		params["dryRun"] = metav1.DryRunAll
	}
	if o.Strict {
		params["fieldValidation"] = metav1.FieldValidationStrict
	}
	if o.FieldManager != "" {
		params["fieldManager"] = o.FieldManager
	}
	return params
}

// CreateWorkspaceType creates a WorkspaceType in the workspace p and returns what the
// server made of it.
func (c *Client) CreateWorkspaceType(ctx context.Context, p logicalcluster.Path, t *tenancyv1alpha1.WorkspaceType, options WriteOptions) (*tenancyv1alpha1.WorkspaceType, error) {
	created := &tenancyv1alpha1.WorkspaceType{}
	if err := c.create(ctx, at(p, "apis", tenancyGroup, tenancyVersion, "workspacetypes"), options.params(), t, created); err != nil {
		return nil, err
	}
	created.TypeMeta = t.TypeMeta
	return created, nil
}

// AuthenticationConfigurations returns the names of the
// WorkspaceAuthenticationConfigurations in the workspace p.
func (c *Client) AuthenticationConfigurations(ctx context.Context, p logicalcluster.Path) ([]string, error) {
	return names(ctx, c, at(p, "apis", tenancyGroup, tenancyVersion, "workspaceauthenticationconfigurations"))
}

// names returns the names of what is at the path.
func names(ctx context.Context, c *Client, path []string) ([]string, error) {
	items, err := list[metav1.PartialObjectMetadata](ctx, c, path)
	all := make([]string, 0, len(items))
	for i := range items {
		all = append(all, items[i].Name)
	}
	return all, err
}

// TryWorkspace asks the server whether the caller could create a Workspace of a type in
// the workspace parent. Nothing is stored; the error is what the server has against it.
func (c *Client) TryWorkspace(ctx context.Context, parent logicalcluster.Path, reference tenancyv1alpha1.WorkspaceTypeReference) error {
	ws := &tenancyv1alpha1.Workspace{
		TypeMeta:   metav1.TypeMeta{APIVersion: tenancyGroup + "/" + tenancyVersion, Kind: "Workspace"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"},
		Spec:       tenancyv1alpha1.WorkspaceSpec{Type: &reference},
	}
	return c.create(ctx, workspaces(parent), WriteOptions{DryRun: true}.params(), ws, &tenancyv1alpha1.Workspace{})
}
