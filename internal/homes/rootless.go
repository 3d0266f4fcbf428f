package homes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// rootless is the layout of homes that are logical clusters outside of the tree below root.
type rootless struct {
	*midwife
	// locks keep those apart who make the same home: the catalog is told of it before it is
	// written, and who is too late must not take that back.
	locks *controller.ClusterLocks
}

func (r *rootless) find(ctx context.Context, username string) (*found, error) {
	cluster := home.Cluster(username)
	lc, err := r.Clusters.Get(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if !isHomeOf(lc, username) {
		return nil, refusal(fmt.Sprintf("the home workspace that belongs to the name is somebody else's: logical cluster %s", cluster))
	}
	return r.show(cluster, lc)
}

// isHomeOf says whether a logical cluster that has the name of a user's home is that. Names
// of two users may have the same hash, if only of users who have looked for such names.
func isHomeOf(lc *corev1alpha1.LogicalCluster, username string) bool {
	if owner := ownerOf(lc); owner != "" {
		return owner == username
	}
	return lc.Annotations[logicalcluster.PathAnnotationKey] == home.Path(username).String()
}

// show returns the Workspace that stands for a home. The logical cluster has none, so it has
// neither UID nor version.
func (r *rootless) show(cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (*found, error) {
	url, err := tenancy.ClusterURL(r.Shard.ExternalURL, cluster)
	if err != nil {
		return nil, err
	}
	status := lc.Status.DeepCopy()
	return &found{since: lc.CreationTimestamp.Time, workspace: &tenancyv1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Name: corev1alpha1.LogicalClusterName, CreationTimestamp: lc.CreationTimestamp},
		Spec:       tenancyv1alpha1.WorkspaceSpec{Type: typeOf(lc), Cluster: cluster.String(), URL: url},
		Status: tenancyv1alpha1.WorkspaceStatus{
			Phase: status.Phase, Conditions: status.Conditions, Initializers: status.Initializers,
		},
	}}, nil
}

// typeOf returns the type that a logical cluster says it has; nil if it does not.
func typeOf(lc *corev1alpha1.LogicalCluster) *tenancyv1alpha1.WorkspaceTypeReference {
	annotation := lc.Annotations[tenancyv1alpha1.TypeAnnotationKey]
	i := strings.LastIndex(annotation, ":")
	if i < 0 {
		return nil
	}
	return &tenancyv1alpha1.WorkspaceTypeReference{Path: annotation[:i], Name: annotation[i+1:]}
}

func (r *rootless) create(ctx context.Context, owner user.Info) error {
	cluster := home.Cluster(owner.GetName())
	defer r.locks.Lock(cluster)()
	_, err := r.Clusters.GetCurrent(ctx, cluster)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	err = r.bear(ctx, expected{
		place:    tenancy.Place{Cluster: cluster, Path: home.Path(owner.GetName())},
		typeName: home.TypeName,
		owner:    owner,
	})
	if errors.Is(err, storage.ErrBatchConflict) {
		// Another server was faster.
		return nil
	}
	return err
}
