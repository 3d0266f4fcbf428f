package bundle

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// logicalClusterName is the name of the one LogicalCluster in each workspace.
const logicalClusterName = "cluster"

// errOffline is the answer to what only a server knows.
var errOffline = errors.New("this is not known offline")

// Workspaces returns the workspaces in one, as a server would. What is not in the bundle
// is "not found".
func (b *Bundle) Workspaces(_ context.Context, parent logicalcluster.Path) ([]tenancyv1alpha1.Workspace, error) {
	resource := tenancyv1alpha1.Resource("workspaces")
	if b.workspaces[parent.String()] == nil {
		return nil, apierrors.NewNotFound(resource, parent.String())
	}
	var all []tenancyv1alpha1.Workspace
	for _, object := range b.Objects(parent, resource) {
		var ws tenancyv1alpha1.Workspace
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ws); err != nil {
			return nil, err
		}
		all = append(all, ws)
	}
	return all, nil
}

// AllWorkspaces is an error: a bundle is small enough to be walked.
func (b *Bundle) AllWorkspaces(context.Context) (map[string][]tenancyv1alpha1.Workspace, error) {
	return nil, errOffline
}

// Explain returns err: what a bundle says of itself needs no question more.
func (b *Bundle) Explain(_ context.Context, _ logicalcluster.Path, err error) error { return err }

// Workspace returns the Workspace called name in parent.
func (b *Bundle) Workspace(ctx context.Context, parent logicalcluster.Path, name string) (*tenancyv1alpha1.Workspace, error) {
	all, err := b.Workspaces(ctx, parent)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), name)
}

// LogicalCluster returns what the workspace p says about itself.
func (b *Bundle) LogicalCluster(_ context.Context, p logicalcluster.Path) (*corev1alpha1.LogicalCluster, error) {
	resource := corev1alpha1.Resource("logicalclusters")
	objects := b.Objects(p, resource)
	if len(objects) == 0 {
		return nil, apierrors.NewNotFound(resource, logicalClusterName)
	}
	lc := &corev1alpha1.LogicalCluster{}
	return lc, runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, lc)
}
