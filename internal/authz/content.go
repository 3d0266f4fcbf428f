package authz

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Access to a workspace is the verb access on the path "/".
const (
	accessVerb = "access"
	accessPath = "/"
)

// metricsPath is served by the process as a whole. The policy of root says who may
// read it, which has nothing to do with access to root.
const metricsPath = "/metrics"

// content lets nobody in who has no access to the workspace, and nobody while it is
// not there yet or not any more. Behind this gate "everybody who is authenticated"
// means everybody who may enter.
func content(r *request) outcome {
	switch {
	case r.cluster == logicalcluster.Root && !r.attributes.IsResourceRequest() && r.attributes.GetPath() == metricsPath:
		return pass("path of the shard")
	case r.cluster.Empty() || r.cluster.IsWildcard() || r.cluster.IsSystem():
		return noOpinion(reasonPrivilegedOnly)
	case reachesOutOfWorkspace(r):
		// Admins of a workspace may get every path in it, but this is not in it.
		return noOpinion("path of the shard, for its admins only")
	case r.deep:
		return pass("deep SAR request")
	case r.inGroup(identity.LogicalClusterAdmin):
		return pass("user is a logical cluster admin")
	}

	logicalCluster, err := r.LogicalCluster()
	switch {
	case apierrors.IsNotFound(err):
		return deny("logical cluster not found")
	case err != nil:
		return failed(err)
	}
	phase := logicalCluster.Status.Phase
	switch {
	case r.mandate != nil:
		// Who has given it looked at the phase as it is in storage.
		return pass("user acts under a mandate")
	case !reachable(phase):
		return noOpinion("logical cluster is in phase " + string(phase))
	case r.isLocalServiceAccount():
		return pass("local service account access")
	case r.mayAccess():
		return pass("user logical cluster access")
	case r.policy.unread != nil:
		return failed(r.policy.unread)
	default:
		return noOpinion("no verb=access permission on /")
	}
}

// reachable says whether a logical cluster in that phase may be entered by users.
func reachable(phase corev1alpha1.Phase) bool {
	switch phase {
	case corev1alpha1.PhaseInitializing, corev1alpha1.PhaseReady, corev1alpha1.PhaseInactive,
		corev1alpha1.PhaseTerminating, corev1alpha1.PhaseDeleting:
		return true
	default:
		return false
	}
}

// isLocalServiceAccount says whether the caller is a service account that comes from
// this cluster and counts as itself in it.
func (r *request) isLocalServiceAccount() bool {
	u := r.attributes.GetUser()
	origin := u.GetExtra()[identity.ClusterNameKey]
	return len(origin) == 1 && identity.IsServiceAccount(u) && identity.InScope(u, r.cluster)
}

// mayAccess asks both policies, of which the workspace's own is the likely one. The
// workspace may be so new that its policy is not in memory yet, so nobody is sent away
// before it has been read again.
func (r *request) mayAccess() bool {
	attributes := authorizer.AttributesRecord{User: r.attributes.GetUser(), Verb: accessVerb, Path: accessPath}
	return judge(r.ctx, r.local, r.identities, &attributes, false).allowed ||
		judge(r.ctx, r.bootstrap, r.identities, &attributes, false).allowed ||
		r.policy.catchUp(r.ctx) && judge(r.ctx, r.local, r.identities, &attributes, false).allowed
}
