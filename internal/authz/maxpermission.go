package authz

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Exports knows where bound resources come from. It is asked once for each request to a
// resource and answers from memory.
type Exports interface {
	// BoundFrom returns the export that a resource of a cluster is bound from. ok is false
	// if the resource is not bound.
	BoundFrom(in logicalcluster.Name, resource schema.GroupResource) (cluster logicalcluster.Name, name string, ok bool)
	// HasPolicy says whether an export has a maximal permission policy. One that is not
	// there has none.
	HasPolicy(ctx context.Context, cluster logicalcluster.Name, name string) (bool, error)
}

// maximalPermission lets nobody do more with a bound resource than the provider of the
// export grants to those who bind it, whatever the policy of the workspace says.
func maximalPermission(r *request) outcome {
	a := r.attributes
	if r.exports == nil || !a.IsResourceRequest() || r.cluster.Empty() {
		return pass("request is not to a bound resource")
	}
	resource := schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}
	cluster, name, ok := r.exports.BoundFrom(r.cluster, resource)
	switch {
	case !ok:
		return pass("resource is not bound")
	case identity.IsMaster(a.GetUser()):
		return pass("user is privileged")
	}
	limited, err := r.exports.HasPolicy(r.ctx, cluster, name)
	switch {
	case err != nil:
		return failed(err)
	case !limited:
		return pass("export has no maximal permission policy")
	}
	policy := newLocalPolicy(r.policy.Policy, r.bootstrap)
	result := permitted(r.ctx, policy, cluster, a, r.explain)
	if !result.allowed && policy.unread != nil {
		return failed(policy.unread)
	}
	reason := "maximal permission policy"
	if r.explain {
		reason += ` of export "` + cluster.String() + "|" + name + `": ` + result.reason
	}
	if !result.allowed {
		return deny(reason)
	}
	return pass(reason)
}

// permitted asks the policy of a provider's cluster about its consumer.
func permitted(ctx context.Context, policy *localPolicy, provider logicalcluster.Name, attributes authorizer.Attributes, explain bool) ruling {
	identities := identity.Consumer(attributes.GetUser(), provider)
	return judge(logicalcluster.NewContext(ctx, provider), policy.resolver(), identities, attributes, explain)
}

// MaximalPermission says whether the policy in the cluster of an export allows those who
// bind it, u among them, what attributes ask for. Whether the export has such a policy is
// for the caller to know. It is for what has not come through the chain: resources that
// providers reach in the workspaces of others.
func (a *Authorizer) MaximalPermission(ctx context.Context, provider logicalcluster.Name, u user.Info, attributes authorizer.Attributes) bool {
	return identity.IsMaster(u) ||
		permitted(ctx, newLocalPolicy(a.local, a.bootstrap.Current()), provider, as{attributes, u}, false).allowed
}

// as are the attributes of a request by somebody else.
type as struct {
	authorizer.Attributes
	user user.Info
}

// GetUser implements authorizer.Attributes.
func (a as) GetUser() user.Info { return a.user }
