package route

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ErrUnavailable says that a workspace on the path cannot be reached at present.
var ErrUnavailable = errors.New("not available")

// Workspaces reads Workspace objects. A missing one is a NotFound Status error.
type Workspaces interface {
	// Get answers from memory, and may lag behind what a client has just read.
	Get(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error)
	// GetCurrent does not lag behind.
	GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error)
}

// Resolver turns paths into names of logical clusters.
type Resolver struct{ workspaces Workspaces }

// NewResolver returns a Resolver that walks along workspaces.
func NewResolver(workspaces Workspaces) *Resolver { return &Resolver{workspaces: workspaces} }

// Resolve returns the cluster at path. A path that leads nowhere is a NotFound Status
// error that names the path and nothing else. ErrUnavailable says that the path
// exists but cannot be used at present.
func (r *Resolver) Resolve(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	if name, ok := path.Name(); ok {
		return name, nil
	}
	notFound := apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), path.String())
	segments := path.Segments()
	if len(segments) == 0 {
		return logicalcluster.Name{}, notFound
	}
	cluster, err := logicalcluster.ParseName(segments[0])
	if err != nil {
		return logicalcluster.Name{}, notFound
	}
	for _, segment := range segments[1:] {
		workspace, err := r.find(ctx, cluster, segment)
		switch {
		case apierrors.IsNotFound(err):
			return logicalcluster.Name{}, notFound
		case err != nil:
			return logicalcluster.Name{}, err
		case workspace.Status.Phase == corev1alpha1.PhaseUnavailable:
			return logicalcluster.Name{}, ErrUnavailable
		case !hasPlace(workspace):
			return logicalcluster.Name{}, notFound
		}
		if cluster, err = logicalcluster.ParseName(workspace.Spec.Cluster); err != nil {
			return logicalcluster.Name{}, notFound
		}
	}
	return cluster, nil
}

// find returns a Workspace. A client that has read that it is ready may use it at once,
// so nobody is told that it leads nowhere from memory alone.
func (r *Resolver) find(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	workspace, err := r.workspaces.Get(ctx, cluster, name)
	if apierrors.IsNotFound(err) || err == nil && !hasPlace(workspace) {
		return r.workspaces.GetCurrent(ctx, cluster, name)
	}
	return workspace, err
}

// hasPlace says whether there is a logical cluster behind the Workspace.
func hasPlace(workspace *tenancyv1alpha1.Workspace) bool {
	return workspace.Spec.Cluster != "" && workspace.Status.Phase != corev1alpha1.PhaseScheduling
}
