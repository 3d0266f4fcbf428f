// Package validating makes the ValidatingAdmissionPolicies of a workspace decide on its
// requests. Upstream's dispatcher and validators do it; package policies says with what.
package validating
