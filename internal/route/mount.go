package route

import (
	"context"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Target is where a path leads: to a logical cluster, or to what is mounted there.
type Target struct {
	// Cluster is the logical cluster; the zero Name if something is mounted.
	Cluster logicalcluster.Name
	// Mount is what is mounted, nil if nothing is.
	Mount *Mount
}

// Mount is a mounted workspace. It has no logical cluster: requests go on to its address.
type Mount struct {
	// Parent is the logical cluster that the Workspace is in, and Workspace its name.
	Parent    logicalcluster.Name
	Workspace string
	// Path is the path by which it was asked for.
	Path logicalcluster.Path
	// URL is the address as the Workspace has it. Tenants may have written it.
	URL string
}

type mountKey struct{}

// NewMountContext returns a copy of ctx that carries mount; nil takes away what ctx carries.
func NewMountContext(ctx context.Context, mount *Mount) context.Context {
	return context.WithValue(ctx, mountKey{}, mount)
}

// MountFrom returns the mounted workspace that a request is to. ok is false for all others.
func MountFrom(ctx context.Context) (mount *Mount, ok bool) {
	mount, _ = ctx.Value(mountKey{}).(*Mount)
	return mount, mount != nil
}

// isMounted says whether a Workspace shows something that has its own address. Whatever else
// its spec says, there is no logical cluster behind it.
func isMounted(workspace *tenancyv1alpha1.Workspace) bool { return workspace.Spec.Mount != nil }

// leadsOn says whether a Workspace leads anywhere at present.
func leadsOn(workspace *tenancyv1alpha1.Workspace) bool {
	if isMounted(workspace) {
		return workspace.Spec.URL != "" && workspace.Status.Phase == corev1alpha1.PhaseReady
	}
	return hasPlace(workspace)
}
