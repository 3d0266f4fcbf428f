package request

import (
	"slices"

	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/authn/identity"
)

// Privileged says whether the caller is in system:masters, for whom most rules do not
// hold.
func Privileged(a admission.Attributes) bool { return InGroup(a, identity.Masters) }

// InGroup says whether the caller is in one of the groups.
func InGroup(a admission.Attributes, groups ...string) bool {
	caller := a.GetUserInfo()
	return caller != nil && slices.ContainsFunc(groups, func(group string) bool {
		return identity.InGroup(caller, group)
	})
}
