// Package authz decides who may do what in a logical cluster.
//
// New returns an Authorizer: a union of links in a given order, of which the first to
// allow or to deny decides. Its core is the link RBAC, a chain of its own. First come
// gates, each of which passes a request on, or decides:
//
//	01-requiredgroups        the groups that a logical cluster asks of everybody
//	02-content               access to the workspace at all: verb access on "/"
//	03-systemcrd             statuses that only the server itself writes
//	04-maxpermissionpolicy   what the provider of a bound resource grants at most
//
// Then the policies grant, or do not:
//
//	05-bootstrap             the policy of system:admin, from memory
//	05-local                 the bindings of the workspace
//
// Policies of other shards have their place behind these. About requests over all logical
// clusters 05-everywhere decides alone: who may read Workspaces in each of them by the
// policy of system:admin may do so in all at once, and nobody may do anything else. For initializers and terminators
// that have been given a Mandate, 05-mandate grants in place of all policies. All of this is about the
// logical cluster in the context (package logicalcluster); without one nothing is
// granted. A policy is asked about every effective identity of a user (package
// identity), and RBAC itself is upstream's.
//
// What a client reads is "access granted" or "access denied", whichever step decided,
// since the reason may tell that a workspace exists. What the steps said goes to the
// audit log.
//
// The package reads policies, logical clusters and exports through the small interfaces
// Policy, LogicalClusters and Exports. It does not authenticate, does not cache
// decisions, and holds nothing per workspace.
package authz
