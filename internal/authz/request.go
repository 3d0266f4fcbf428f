package authz

import (
	"context"
	"slices"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"

	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// request is one question to the RBAC chain, with what its steps share.
type request struct {
	ctx        context.Context
	attributes authorizer.Attributes
	cluster    logicalcluster.Name
	identities []user.Info
	deep       bool
	explain    bool
	// mandate is the one under which the user acts, nil in all usual cases.
	mandate *Mandate

	bootstrap *Snapshot
	local     *validation.DefaultRuleResolver
	// policy is what local reads.
	policy *localPolicy

	exports        Exports
	clusters       LogicalClusters
	logicalCluster *corev1alpha1.LogicalCluster
	clusterErr     error

	// alone is the room of identities in the usual case of one.
	alone [1]user.Info
}

// newRequest returns the question that attributes make in the cluster of ctx. The
// cluster is the zero Name if there is none.
func (c *rbacChain) newRequest(ctx context.Context, attributes authorizer.Attributes, explain bool) *request {
	cluster, _ := logicalcluster.FromContext(ctx)
	bootstrap := c.bootstrap.Current()
	policy := newLocalPolicy(c.local, bootstrap)
	r := &request{
		ctx:        ctx,
		attributes: attributes,
		cluster:    cluster,
		deep:       isDeep(ctx),
		mandate:    mandateOf(ctx, cluster, attributes.GetUser()),
		explain:    explain,
		bootstrap:  bootstrap,
		local:      policy.resolver(),
		policy:     policy,
		exports:    c.exports,
		clusters:   c.logicalClusters,
	}
	if u := attributes.GetUser(); identity.Plain(u) {
		r.alone[0] = u
		r.identities = r.alone[:]
	} else {
		r.identities = identity.Effective(u, cluster)
	}
	return r
}

// LogicalCluster returns the logical cluster that the request is to. It is read once.
func (r *request) LogicalCluster() (*corev1alpha1.LogicalCluster, error) {
	if r.logicalCluster == nil && r.clusterErr == nil {
		r.logicalCluster, r.clusterErr = r.clusters.Get(r.ctx, r.cluster)
	}
	return r.logicalCluster, r.clusterErr
}

// inGroup says whether an identity of the caller is a member of group.
func (r *request) inGroup(group string) bool {
	return slices.ContainsFunc(r.identities, func(u user.Info) bool { return identity.InGroup(u, group) })
}

// outcome is what a step makes of a request.
type outcome struct {
	// passed sends the request on to the next step; decision and err say nothing
	// then.
	passed   bool
	decision authorizer.Decision
	reason   string
	err      error
}

func pass(reason string) outcome { return outcome{passed: true, reason: reason} }

func deny(reason string) outcome {
	return outcome{decision: authorizer.DecisionDeny, reason: reason}
}

func allow(reason string) outcome {
	return outcome{decision: authorizer.DecisionAllow, reason: reason}
}

func noOpinion(reason string) outcome {
	return outcome{decision: authorizer.DecisionNoOpinion, reason: reason}
}

// failed is the outcome of a step that could not find out what it had to.
func failed(err error) outcome {
	return outcome{decision: authorizer.DecisionNoOpinion, err: err}
}
