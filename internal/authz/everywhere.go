package authz

import (
	"slices"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/tenancy/phase"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const reasonPrivilegedOnly = "only privileged users have access to this cluster"

// everywhere decides about requests over all logical clusters. What is granted is to list
// and to watch Workspaces, to whom the policy of system:admin lets do so in each cluster:
// the answer is what he would read by asking in one after the other, in one request.
//
// So nothing may differ from cluster to cluster. Who counts as himself in some only, by
// scopes, warrants or as a service account, asks one by one; so does who is not exempt
// from required groups, which a cluster may get while a watch is open. Nobody sees
// into a cluster that cannot be entered, so that all do ask one by one while there is one.
func everywhere(r *request) outcome {
	a := r.attributes
	switch {
	case !readsWorkspaces(a):
		return noOpinion(reasonPrivilegedOnly)
	case r.deep || !identity.Plain(a.GetUser()):
		return noOpinion("user is not the same in all logical clusters")
	case !r.exempt():
		return noOpinion("logical clusters may require groups of the user")
	case !r.bootstrapAllows(&authorizer.AttributesRecord{User: a.GetUser(), Verb: accessVerb, Path: accessPath}):
		return noOpinion("bootstrap policy: no verb=access permission on /")
	case !r.bootstrapAllows(a):
		return noOpinion("bootstrap policy: does not let the user read workspaces")
	}
	if result := r.at(logicalcluster.Root, maximalPermission); !result.passed {
		return result
	}
	open, err := r.allOpen()
	switch {
	case err != nil:
		return failed(err)
	case !open:
		return noOpinion("a logical cluster cannot be entered")
	}
	return allow("bootstrap policy: allowed in all logical clusters")
}

// readsWorkspaces says whether the request is one for lists or watches of Workspaces.
func readsWorkspaces(a authorizer.Attributes) bool {
	return a.IsResourceRequest() && a.GetAPIGroup() == tenancyv1alpha1.GroupName && a.GetResource() == "workspaces" &&
		a.GetSubresource() == "" && (a.GetVerb() == "list" || a.GetVerb() == "watch")
}

func (r *request) bootstrapAllows(attributes authorizer.Attributes) bool {
	return judge(r.ctx, r.bootstrap, r.identities, attributes, false).allowed
}

// at returns what a gate makes of the request in another cluster. Workspaces have one
// provider, root, and its policy asks for nothing that has to do with the consumer's
// cluster: what it says in one it says in all.
func (r *request) at(cluster logicalcluster.Name, gate func(*request) outcome) outcome {
	there := *r
	there.cluster = cluster
	return gate(&there)
}

// allOpen says whether no logical cluster is in a phase in which it cannot be entered, or
// offline. A watch over all clusters is ended when one goes offline.
func (r *request) allOpen() (bool, error) {
	all, err := r.clusters.List(r.ctx)
	if err != nil {
		return false, err
	}
	for i := range all {
		if !reachable(all[i].Status.Phase) || phase.Inactive(all[i].Annotations) {
			return false, nil
		}
	}
	return true, nil
}

// asksBefore says whether a link comes before another one in order.
func asksBefore(order []string, link, other string) bool {
	i := slices.Index(order, link)
	return i >= 0 && i < slices.Index(order, other)
}
