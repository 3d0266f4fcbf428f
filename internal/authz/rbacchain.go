package authz

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// rbacChain is the link RBAC.
type rbacChain struct {
	bootstrap       *Bootstrap
	local           Policy
	logicalClusters LogicalClusters
	exports         Exports
	single          logicalcluster.Name
	audited         bool
	// oneByOne says that another link decides before this one, about each cluster, so that
	// nothing may be granted in all of them at once.
	oneByOne bool
}

// step is a part of the chain, under the name it has in audit events.
type step struct {
	name   string
	decide func(*request) outcome
}

// gates must all be passed, in this order, before a policy is asked.
var gates = []step{
	{"01-requiredgroups", requiredGroups},
	{"02-content", content},
	{"03-systemcrd", systemCRD},
	{"04-maxpermissionpolicy", maximalPermission},
}

// policies are asked in this order, the cheap one first. What one does not allow the
// next may. Those of other shards belong at the end, as 05-global.
var policies = []step{
	{"05-bootstrap", bootstrapPolicy},
	{"05-local", workspacePolicy},
}

// mandates are asked in place of policies where somebody acts under one.
var mandates = []step{{"05-mandate", mandated}}

// everywhereStep takes the place of all gates and policies for requests over all clusters.
const everywhereStep = "05-everywhere"

// authorize takes the request through the gates and asks the policies. The reason of
// the outcome is not for clients.
func (c *rbacChain) authorize(ctx context.Context, attributes authorizer.Attributes, in domain) outcome {
	trail := c.newTrail(ctx, in)
	r := c.newRequest(ctx, attributes, trail != nil)
	if r.cluster.IsWildcard() && !c.oneByOne {
		result := everywhere(r)
		trail.decided(everywhereStep, result)
		return trail.close(result)
	}
	for i := range gates {
		if !r.cluster.Empty() && r.cluster == c.single {
			break
		}
		result := gates[i].decide(r)
		if !result.passed {
			trail.decided(gates[i].name, result)
			return trail.close(result)
		}
		trail.passed(gates[i].name, result)
	}
	granting := policies
	if r.mandate != nil {
		granting = mandates
	}
	var result outcome
	for i := range granting {
		result = granting[i].decide(r)
		trail.decided(granting[i].name, result)
		if result.decision != authorizer.DecisionNoOpinion {
			break
		}
	}
	return trail.close(result)
}
