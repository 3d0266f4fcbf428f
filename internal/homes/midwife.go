package homes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/owners"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// midwife writes new homes, and what is above them.
type midwife struct{ *Config }

// expected is what is to be born.
type expected struct {
	// place is where.
	place tenancy.Place
	// typeName is the name of the type, in root.
	typeName string
	// owner is whose it is; nil if it is the server's.
	owner user.Info
	// workspace is the Workspace that is born with it, and parent the logical cluster that
	// this is in. Both are nil for a rootless logical cluster.
	workspace *tenancyv1alpha1.Workspace
	parent    *corev1alpha1.LogicalCluster
}

// inRoot is where the types of homes are.
var inRoot = tenancy.Place{Cluster: logicalcluster.Root, Path: logicalcluster.Root.Path()}

// bear writes all of what is expected, or nothing: ErrBatchConflict says that something is
// there already, or that the parent has changed.
func (m *midwife) bear(ctx context.Context, e expected) error {
	reference := tenancyv1alpha1.WorkspaceTypeReference{Path: inRoot.Path.String(), Name: e.typeName}
	set, err := m.Types.Resolve(ctx, inRoot, reference)
	if err != nil {
		return fmt.Errorf("resolving the type: %w", err)
	}
	now := metav1.NewTime(m.Clock.Now()).Rfc3339Copy()
	plan, err := m.Bindings.Plan(ctx, defaultbindings.Input{
		Consumer: e.place, Wanted: defaultbindings.OfType(set, e.place.Cluster), Who: e.owner,
		Decide: true, Now: now, NewUID: uuid.NewUUID,
	})
	if err != nil {
		return fmt.Errorf("planning the default bindings: %w", err)
	}
	in := birth.Input{
		Type: set, Cluster: e.place.Cluster, Shard: m.Shard, Locks: plan.Locks, Waiting: plan.Waiting(now),
		RootCA: m.RootCA, Now: now, NewUID: uuid.NewUUID,
	}
	if err := e.describe(&in); err != nil {
		return err
	}
	born, err := birth.Of(in)
	if err != nil {
		return err
	}
	return m.write(ctx, e, born, plan)
}

// describe says whose what is to be born is, and where.
func (e *expected) describe(in *birth.Input) error {
	owner := ""
	if e.owner != nil {
		var err error
		if owner, err = owners.Encode(e.owner); err != nil {
			return err
		}
	}
	if e.workspace == nil {
		in.Rootless = birth.Rootless{Path: e.place.Path, Owner: owner}
		return nil
	}
	ws := e.workspace.DeepCopy()
	ws.UID, ws.CreationTimestamp = in.NewUID(), in.Now
	ws.Labels = in.Type.Type.Object.Spec.AdditionalWorkspaceLabels
	reference := in.Type.Type.Reference()
	ws.Spec.Type = &reference
	if owner != "" {
		metav1.SetMetaDataAnnotation(&ws.ObjectMeta, tenancyv1alpha1.OwnerAnnotationKey, owner)
	}
	if groups, ok := e.parent.Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey]; ok {
		metav1.SetMetaDataAnnotation(&ws.ObjectMeta, tenancyv1alpha1.RequiredGroupsAnnotationKey, groups)
	}
	in.Workspace = ws
	in.Parent = tenancy.PlaceOf(logicalcluster.FromAnnotations(e.parent.Annotations), e.parent)
	return nil
}

func (m *midwife) write(ctx context.Context, e expected, born *birth.Objects, plan *defaultbindings.Plan) error {
	batch := m.Layer.NewBatch()
	if born.Workspace != nil {
		parent := logicalcluster.FromAnnotations(e.parent.Annotations)
		batch.Require(cached.LogicalClusters, parent, e.parent)
		batch.Create(cached.Workspaces, parent, born.Workspace)
	}
	born.AddTo(batch, e.place.Cluster)
	plan.AddTo(batch)
	// Whoever reads that it is ready finds its APIs.
	plan.Announce(m.Catalog, 0)
	if err := batch.Commit(ctx); err != nil {
		plan.Withdraw(m.Catalog)
		return err
	}
	plan.Announce(m.Catalog, batch.Revision())
	return nil
}

// ownerOf returns the name of the user whose a logical cluster is, empty if it does not say.
func ownerOf(lc *corev1alpha1.LogicalCluster) string {
	if lc.Spec.CreatedBy != nil && lc.Spec.CreatedBy.Username != "" {
		return lc.Spec.CreatedBy.Username
	}
	owner, err := owners.Decode(lc.Annotations[tenancyv1alpha1.OwnerAnnotationKey])
	if err != nil {
		return ""
	}
	return owner.Username
}
