package client

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	apisGroup = "apis.kcp.io"
	v1alpha1  = "v1alpha1"
	v1alpha2  = "v1alpha2"
)

// APIs are the objects of the group apis.kcp.io in one workspace. Servers that know
// exports and bindings in v1alpha1 only are talked to in that, and what they answer is
// read as v1alpha2.
type APIs struct {
	client    *Client
	workspace logicalcluster.Path
	version   string
}

// APIs returns the objects of the group apis.kcp.io in the workspace p.
func (c *Client) APIs(ctx context.Context, p logicalcluster.Path) (*APIs, error) {
	group, err := c.Group(ctx, p, apisGroup)
	if apierrors.IsNotFound(err) && !isWorkspaceMissing(err) {
		return nil, fmt.Errorf("this server does not serve the API group %s in %s", apisGroup, p)
	}
	if err != nil {
		return nil, c.Explain(ctx, p, err)
	}
	apis := &APIs{client: c, workspace: p}
	for _, served := range group.Versions {
		switch served.Version {
		case v1alpha2:
			apis.version = v1alpha2
		case v1alpha1:
			if apis.version == "" {
				apis.version = v1alpha1
			}
		}
	}
	if apis.version == "" {
		return nil, fmt.Errorf("this server serves %s in versions that this program does not know; the preferred one is %s",
			apisGroup, group.PreferredVersion.Version)
	}
	return apis, nil
}

// Old says that the server knows v1alpha1 only, in which claims have neither verbs nor
// selectors.
func (a *APIs) Old() bool { return a.version == v1alpha1 }

// Workspace returns the workspace that the objects are in.
func (a *APIs) Workspace() logicalcluster.Path { return a.workspace }

// In returns the objects in another workspace of the same server.
func (a *APIs) In(workspace logicalcluster.Path) *APIs {
	return &APIs{client: a.client, workspace: workspace, version: a.version}
}

func (a *APIs) path(version, resource string, name ...string) []string {
	return append(at(a.workspace, "apis", apisGroup, version, resource), name...)
}

// TypeMeta returns the type of kind in the version that the server has.
func (a *APIs) TypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apisGroup + "/" + a.version, Kind: kind}
}

// Create creates an object of another group, in its namespace if it has one.
func (c *Client) Create(ctx context.Context, p logicalcluster.Path, gvr schema.GroupVersionResource, object *unstructured.Unstructured) error {
	path := at(p, "apis", gvr.Group, gvr.Version)
	if namespace := object.GetNamespace(); namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	var answer unstructured.Unstructured
	return c.create(ctx, append(path, gvr.Resource), nil, object, &answer.Object)
}

// ResourceSchemas returns the APIResourceSchemas.
func (a *APIs) ResourceSchemas(ctx context.Context) ([]apisv1alpha1.APIResourceSchema, error) {
	return list[apisv1alpha1.APIResourceSchema](ctx, a.client, a.path(v1alpha1, "apiresourceschemas"))
}

// ResourceSchema returns the APIResourceSchema called name.
func (a *APIs) ResourceSchema(ctx context.Context, name string) (*apisv1alpha1.APIResourceSchema, error) {
	s := &apisv1alpha1.APIResourceSchema{}
	return s, a.client.get(ctx, a.path(v1alpha1, "apiresourceschemas", name), nil, s)
}

// CreateResourceSchema creates an APIResourceSchema.
func (a *APIs) CreateResourceSchema(ctx context.Context, s *apisv1alpha1.APIResourceSchema) error {
	return a.client.create(ctx, a.path(v1alpha1, "apiresourceschemas"), nil, s, &apisv1alpha1.APIResourceSchema{})
}

// Exports returns the APIExports.
func (a *APIs) Exports(ctx context.Context) ([]Export, error) {
	return list[Export](ctx, a.client, a.path(a.version, "apiexports"))
}

// Export returns the APIExport called name.
func (a *APIs) Export(ctx context.Context, name string) (*Export, error) {
	e := &Export{}
	return e, a.client.get(ctx, a.path(a.version, "apiexports", name), nil, e)
}

// CreateExport creates an APIExport, in the version that the server has.
func (a *APIs) CreateExport(ctx context.Context, export *apisv1alpha2.APIExport) error {
	return a.client.create(ctx, a.path(v1alpha2, "apiexports"), nil, export, &Export{})
}

// PatchExport changes the fields of an APIExport that are in patch.
func (a *APIs) PatchExport(ctx context.Context, name string, patch any) error {
	return a.client.patch(ctx, a.path(v1alpha2, "apiexports", name), patch, &Export{})
}

// Bindings returns the APIBindings.
func (a *APIs) Bindings(ctx context.Context) ([]Binding, error) {
	return list[Binding](ctx, a.client, a.path(a.version, "apibindings"))
}

// Binding returns the APIBinding called name.
func (a *APIs) Binding(ctx context.Context, name string) (*Binding, error) {
	b := &Binding{}
	return b, a.client.get(ctx, a.path(a.version, "apibindings", name), nil, b)
}

// CreateBinding creates an APIBinding and returns what the server made of it. dryRun
// makes the server check it only.
func (a *APIs) CreateBinding(ctx context.Context, binding *apisv1alpha2.APIBinding, dryRun bool) (*Binding, error) {
	var params map[string]string
	if dryRun {
		params = map[string]string{"dryRun": metav1.DryRunAll}
	}
	b := &Binding{}
	return b, a.client.create(ctx, a.path(a.version, "apibindings"), params, a.bindingToSend(binding), b)
}

// PatchBinding changes the fields of an APIBinding that are in patch.
func (a *APIs) PatchBinding(ctx context.Context, name string, patch any) (*Binding, error) {
	b := &Binding{}
	return b, a.client.patch(ctx, a.path(a.version, "apibindings", name), patch, b)
}

// DeleteBinding starts the deletion of the APIBinding, if it is still the same one.
func (a *APIs) DeleteBinding(ctx context.Context, binding *Binding) error {
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &binding.UID},
	}
	return a.client.remove(ctx, a.path(a.version, "apibindings", binding.Name), options)
}
