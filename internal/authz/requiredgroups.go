package authz

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/authn/identity"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// requiredGroups shuts out who is not in the groups that the logical cluster asks for
// in an annotation, whatever its own policy says. Service accounts are exempt: that of
// a workspace is in nobody's groups.
func requiredGroups(r *request) outcome {
	switch {
	case r.deep:
		return pass("deep SAR request")
	case r.cluster.Empty() || r.cluster.IsWildcard():
		return noOpinion("request is not to one logical cluster")
	case r.inGroup(identity.LogicalClusterAdmin):
		return pass("user is a logical cluster admin")
	case identity.IsServiceAccount(r.attributes.GetUser()):
		return pass("user is a service account")
	}

	logicalCluster, err := r.LogicalCluster()
	switch {
	case apierrors.IsNotFound(err):
		return noOpinion("logical cluster not found")
	case err != nil:
		return failed(err)
	case r.inGroup(identity.ExternalLogicalClusterAdmin):
		return pass("user is an external logical cluster admin")
	}

	required, ok := logicalCluster.Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey]
	switch {
	case !ok:
		return pass("logical cluster does not require groups")
	case r.exempt():
		return pass("user is exempt from required groups")
	case r.satisfies(required):
		return pass("user is a member of required groups")
	default:
		return deny("user is not a member of required groups: " + required)
	}
}

// exempt says whether no logical cluster may require groups of the caller.
func (r *request) exempt() bool {
	return r.inGroup(identity.Admin) || r.inGroup(identity.WorkspaceBootstrapper)
}

// satisfies says whether the caller's groups fit required: alternatives, separated by
// semicolons, each a list of groups all of which are needed, separated by commas.
func (r *request) satisfies(required string) bool {
	for alternative := range strings.SplitSeq(required, ";") {
		if r.inAll(alternative) {
			return true
		}
	}
	return false
}

func (r *request) inAll(groups string) bool {
	for group := range strings.SplitSeq(groups, ",") {
		// An empty name fits nobody, so that a misspelled list does not open the door.
		if group == "" || !r.inGroup(group) {
			return false
		}
	}
	return true
}
