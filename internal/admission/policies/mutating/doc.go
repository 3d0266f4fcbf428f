// Package mutating makes the MutatingAdmissionPolicies of a workspace change what is
// written into it. Upstream's dispatcher and patchers do it; package policies says with
// what. Policies are applied in the order of their names.
package mutating
