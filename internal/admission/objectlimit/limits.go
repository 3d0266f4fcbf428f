package objectlimit

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Limits says how many objects clusters may hold.
type Limits struct {
	Clusters tenancy.Clusters
	// Default is the limit of clusters that have none of their own; none if 0.
	Default int64
}

// Of returns the limit of a cluster. limited is false if it may hold any number, as all
// may that are not Ready.
func (l Limits) Of(ctx context.Context, cluster logicalcluster.Name) (limit int64, limited bool, err error) {
	if cluster.IsSystem() {
		return 0, false, nil
	}
	lc, err := l.Clusters.Get(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err):
		// Nothing can be created in it.
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("reading the logical cluster: %w", err)
	case lc.Status.Phase != corev1alpha1.PhaseReady:
		return 0, false, nil
	}
	limit = l.Default
	if cluster == logicalcluster.Root {
		limit = 0
	}
	if own, ok := annotated(lc); ok {
		limit = own
	}
	return limit, limit > 0, nil
}

// annotated returns the limit that lc has of its own. What is not a number is none.
func annotated(lc *corev1alpha1.LogicalCluster) (int64, bool) {
	value, ok := lc.Annotations[corev1alpha1.MaxTotalObjectsAnnotationKey]
	if !ok {
		return 0, false
	}
	limit, err := strconv.ParseInt(value, 10, 64)
	return limit, err == nil
}

// ForCreate is the storage.Limit of requests: it limits what they create.
func (l Limits) ForCreate(ctx context.Context, cluster logicalcluster.Name, resource schema.GroupResource, name string) (limit int64, limited bool, err error) {
	if _, ok := request.RequestInfoFrom(ctx); !ok || exempt(resource, name) {
		return 0, false, nil
	}
	return l.Of(ctx, cluster)
}

var (
	logicalClusters     = corev1alpha1.Resource("logicalclusters")
	clusterRoleBindings = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}
	events              = schema.GroupResource{Resource: "events"}
	newEvents           = schema.GroupResource{Group: "events.k8s.io", Resource: "events"}
)

// exempt says whether an object can be created however many there are.
func exempt(resource schema.GroupResource, name string) bool {
	switch resource {
	case logicalClusters, events, newEvents:
		return true
	case clusterRoleBindings:
		return name == rbac.WorkspaceAdminBinding
	default:
		return false
	}
}
