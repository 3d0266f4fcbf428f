// Package permissionclaims holds the rules of permission claims: what an export may ask
// for, what an answer gives, which objects it gives and how they are marked, and what the
// status of a binding says of all that. The package is pure.
//
// An export claims resources of those who bind it, a binding answers each claim. The two
// belong together by group, resource and identity hash (Name). What the provider may do
// is what both lists of verbs name, literally: "*" is a word like the others, so that "*"
// and "get" have nothing in common.
//
// Objects that a provider may see carry a label, whose key stands for the export and whose
// value for the claim: that is how its lists and watches find them. For single objects the
// selector of the answer is asked itself (Guard), so that an answer counts from the moment
// it is given.
//
// The fields of a binding's status that are about claims (appliedPermissionClaims and the
// conditions PermissionClaimsValid and PermissionClaimsApplied) have two writers that do
// not get in each other's way. As long as no claim is accepted nothing has to be done before
// the status is right: whoever writes the rest of the status writes what is Settled. With an
// accepted claim objects have to be labeled first: the controller that does so writes these
// fields (WithStatus), and nothing else.
package permissionclaims
