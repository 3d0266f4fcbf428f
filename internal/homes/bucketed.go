package homes

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// attempts is how often somebody else may have written what is about to be.
const attempts = 5

// bucketed is the layout of homes that are Workspaces in buckets below root.
type bucketed struct {
	*midwife
	home.Buckets
}

func (b *bucketed) find(ctx context.Context, username string) (*found, error) {
	path, err := b.Path(username)
	if err != nil {
		return nil, refusal(err.Error())
	}
	bucket, _ := path.Parent()
	cluster, err := b.Paths.Resolve(ctx, bucket)
	if err != nil {
		return nil, err
	}
	ws, err := b.workspace(ctx, cluster, path.Base())
	if err != nil {
		return nil, err
	}
	lc, err := b.clusterOf(ctx, ws)
	if err != nil {
		return nil, err
	}
	if ownerOf(lc) != username {
		return nil, refusal(fmt.Sprintf("the home workspace that belongs to the name is somebody else's: %s", path))
	}
	shown := ws.DeepCopy()
	if shown.Spec.URL, err = tenancy.WorkspaceURL(b.Shard.ExternalURL, path); err != nil {
		return nil, err
	}
	return &found{since: lc.CreationTimestamp.Time, workspace: shown}, nil
}

// workspace returns a Workspace. That there is none is not believed to memory.
func (b *bucketed) workspace(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.Workspace, error) {
	ws, err := b.Workspaces.Get(ctx, cluster, name)
	if apierrors.IsNotFound(err) {
		return b.Workspaces.GetCurrent(ctx, cluster, name)
	}
	return ws, err
}

// clusterOf returns the LogicalCluster of a Workspace, errNotYet if there is none yet.
func (b *bucketed) clusterOf(ctx context.Context, ws *tenancyv1alpha1.Workspace) (*corev1alpha1.LogicalCluster, error) {
	cluster, err := logicalcluster.ParseName(ws.Spec.Cluster)
	if err != nil {
		return nil, errNotYet
	}
	lc, err := b.Clusters.Get(ctx, cluster)
	if apierrors.IsNotFound(err) {
		return nil, errNotYet
	}
	return lc, err
}

// prepare makes the workspace that all buckets are in.
func (b *bucketed) prepare(ctx context.Context) error {
	root, err := b.Clusters.GetCurrent(ctx, logicalcluster.Root)
	if err != nil {
		return err
	}
	_, err = b.enter(ctx, root, step{name: b.Root.Base(), typeName: home.RootTypeName})
	if errors.Is(err, errNotYet) {
		// Nobody but who asks for a home has to wait.
		return nil
	}
	return err
}

func (b *bucketed) create(ctx context.Context, owner user.Info) error {
	path, err := b.Path(owner.GetName())
	if err != nil {
		return refusal(err.Error())
	}
	return b.createUpTo(ctx, owner, path)
}

// createUpTo makes what is missing on the way to path, which leads to the home of owner.
func (b *bucketed) createUpTo(ctx context.Context, owner user.Info, path logicalcluster.Path) error {
	at, err := b.Clusters.GetCurrent(ctx, logicalcluster.Root)
	if err != nil {
		return err
	}
	for _, step := range b.steps(owner, path) {
		if at, err = b.enter(ctx, at, step); err != nil {
			return err
		}
	}
	return nil
}

// step is a workspace on the way to a home.
type step struct {
	name, typeName string
	// owner is whose it is, nil if it is the server's.
	owner user.Info
}

// steps returns the way to path from root.
func (b *bucketed) steps(owner user.Info, path logicalcluster.Path) []step {
	var steps []step
	for i, name := range path.Segments()[1:] {
		switch {
		case i == 0:
			steps = append(steps, step{name: name, typeName: home.RootTypeName})
		case i <= b.Levels:
			steps = append(steps, step{name: name, typeName: home.BucketTypeName})
		default:
			steps = append(steps, step{name: name, typeName: home.TypeName, owner: owner})
		}
	}
	return steps
}

// enter returns the LogicalCluster of a workspace in that of its parent. It makes it if it is
// missing.
func (b *bucketed) enter(ctx context.Context, parent *corev1alpha1.LogicalCluster, s step) (*corev1alpha1.LogicalCluster, error) {
	at, err := tenancy.PlaceOfStored(parent)
	if err != nil {
		return nil, err
	}
	for range attempts {
		ws, err := b.workspace(ctx, at.Cluster, s.name)
		if err == nil {
			return b.check(ctx, at, ws, s)
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
		if !parent.DeletionTimestamp.IsZero() {
			return nil, errNotYet
		}
		ws = &tenancyv1alpha1.Workspace{}
		ws.Name = s.name
		err = b.bear(ctx, expected{
			place:    tenancy.Place{Cluster: logicalcluster.Generate(), Path: at.Path.Join(s.name)},
			typeName: s.typeName, owner: s.owner, workspace: ws, parent: parent,
		})
		if errors.Is(err, storage.ErrBatchConflict) {
			// Somebody else has made it, or the parent is no longer what memory says.
			parent, err = b.Clusters.GetCurrent(ctx, at.Cluster)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errNotYet
}

// check returns the LogicalCluster of a workspace that is there, if it is what it is to be.
func (b *bucketed) check(ctx context.Context, at tenancy.Place, ws *tenancyv1alpha1.Workspace, s step) (*corev1alpha1.LogicalCluster, error) {
	path := at.Path.Join(s.name)
	if t := ws.Spec.Type; t == nil || t.Name != s.typeName || t.Path != logicalcluster.Root.String() {
		return nil, fmt.Errorf("workspace %s is not of type %s:%s: no home can be made there", path, logicalcluster.Root, s.typeName)
	}
	if !ws.DeletionTimestamp.IsZero() {
		return nil, errNotYet
	}
	lc, err := b.clusterOf(ctx, ws)
	if err != nil {
		return nil, err
	}
	if s.owner == nil && lc.Status.Phase != corev1alpha1.PhaseReady {
		return nil, errNotYet
	}
	return lc, nil
}
