package route

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/tenancy/home"
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
type Resolver struct {
	workspaces Workspaces
	trees      *Trees
}

// NewResolver returns a Resolver that walks along workspaces, from any cluster, the homes of
// users and the tops of trees.
func NewResolver(workspaces Workspaces, trees *Trees) *Resolver {
	return &Resolver{workspaces: workspaces, trees: trees}
}

// Resolve returns the cluster at path. A path that leads nowhere is a NotFound Status
// error that names the path and nothing else, and so is one that leads to a mounted
// workspace. ErrUnavailable says that the path exists but cannot be used at present.
func (r *Resolver) Resolve(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	target, err := r.Target(ctx, path)
	if err == nil && target.Mount != nil {
		return logicalcluster.Name{}, notFound(path)
	}
	return target.Cluster, err
}

// Target is Resolve for those who can do something with mounted workspaces.
func (r *Resolver) Target(ctx context.Context, path logicalcluster.Path) (Target, error) {
	if name, ok := path.Name(); ok {
		return Target{Cluster: name}, nil
	}
	cluster, segments, ok := r.start(path)
	if !ok {
		return Target{}, notFound(path)
	}
	for i, segment := range segments {
		workspace, err := r.find(ctx, cluster, segment)
		isLast := i == len(segments)-1
		switch {
		case apierrors.IsNotFound(err):
			return Target{}, notFound(path)
		case err != nil:
			return Target{}, err
		case workspace.Status.Phase == corev1alpha1.PhaseUnavailable:
			return Target{}, ErrUnavailable
		case !leadsOn(workspace), isMounted(workspace) && !isLast:
			return Target{}, notFound(path)
		case isMounted(workspace):
			return Target{Mount: &Mount{Parent: cluster, Workspace: segment, Path: path, URL: workspace.Spec.URL}}, nil
		}
		if cluster, err = logicalcluster.ParseName(workspace.Spec.Cluster); err != nil {
			return Target{}, notFound(path)
		}
	}
	return Target{Cluster: cluster}, nil
}

func notFound(path logicalcluster.Path) error {
	return apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), path.String())
}

// start returns where a path begins, and the names of the workspaces that follow.
func (r *Resolver) start(path logicalcluster.Path) (cluster logicalcluster.Name, rest []string, ok bool) {
	segments := path.Segments()
	if cluster, rest, ok := home.Find(segments); ok {
		return cluster, rest, true
	}
	if top, count, ok := r.trees.above(path); ok {
		return top, segments[count:], true
	}
	if len(segments) == 0 {
		return logicalcluster.Name{}, nil, false
	}
	cluster, err := logicalcluster.ParseName(segments[0])
	return cluster, segments[1:], err == nil
}

// find returns a Workspace. A client that has read that it is ready may use it at once,
// so nobody is told that it leads nowhere, or cannot be used, from memory alone.
func (r *Resolver) find(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	workspace, err := r.workspaces.Get(ctx, cluster, name)
	if apierrors.IsNotFound(err) || err == nil && (!leadsOn(workspace) || workspace.Status.Phase == corev1alpha1.PhaseUnavailable) {
		return r.workspaces.GetCurrent(ctx, cluster, name)
	}
	return workspace, err
}

// hasPlace says whether there is a logical cluster behind the Workspace.
func hasPlace(workspace *tenancyv1alpha1.Workspace) bool {
	return workspace.Spec.Cluster != "" && workspace.Status.Phase != corev1alpha1.PhaseScheduling
}
