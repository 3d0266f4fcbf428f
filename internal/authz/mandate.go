package authz

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Mandate is what an initializer or a terminator may do in one logical cluster, in place
// of all that policies say about whoever acts for it. The workspace may have no policy
// yet, and its policy need not know who initializes it.
//
// It is given to a request with WithMandate, in this process and by nobody else: being in
// Group alone, however a client has managed to be, gives nothing.
type Mandate struct {
	// Cluster is the only one in which the mandate counts.
	Cluster logicalcluster.Name
	// Group marks who acts under the mandate. Others whom the same request asks about,
	// such as the subject of an access review, are judged as they always are.
	Group string
	// Rules are all that it allows.
	Rules []rbacv1.PolicyRule
}

// Allows says whether a rule allows what attributes ask for, by the semantics of RBAC.
func (m *Mandate) Allows(attributes authorizer.Attributes) bool {
	return rbac.RulesAllow(attributes, m.Rules...)
}

// String says where the rules come from, as it stands in audit events.
func (m *Mandate) String() string { return fmt.Sprintf("mandate of group %q", m.Group) }

type mandateKey struct{}

// WithMandate returns a copy of ctx for a request under mandate. Only who has made sure
// that it is the turn of the initializer or terminator may do this.
func WithMandate(ctx context.Context, mandate *Mandate) context.Context {
	return context.WithValue(ctx, mandateKey{}, mandate)
}

// mandateOf returns the mandate under which u acts in cluster, nil if under none.
func mandateOf(ctx context.Context, cluster logicalcluster.Name, u user.Info) *Mandate {
	mandate, _ := ctx.Value(mandateKey{}).(*Mandate)
	// The groups of u count whether or not he is himself in this cluster: that it is his
	// turn here is what the mandate says.
	if mandate == nil || cluster.Empty() || mandate.Cluster != cluster || !identity.InGroup(u, mandate.Group) {
		return nil
	}
	return mandate
}

// mandated is the policy of a request under a mandate.
func mandated(r *request) outcome {
	if !r.mandate.Allows(r.attributes) {
		return noOpinion("no rule of the " + r.mandate.String())
	}
	return allow("allowed by the " + r.mandate.String())
}
