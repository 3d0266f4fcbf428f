package hookcontent

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/tenancy/owners"
)

// creator returns who created a workspace as caller may act in his name. That is what
// impersonation would let him: nobody gets by way of another's workspace into a group that
// means something in all of them, such as system:kcp:admin, who is not in it himself. The
// creator is admin of his workspace by name, so that little is lost by it.
func creator(caller user.Info, createdBy *authenticationv1.UserInfo) user.Info {
	return identity.DropGroups(owners.User(createdBy), func(group string) bool {
		return group != user.AllAuthenticated && identity.Privileged(group) && !identity.InGroup(caller, group)
	})
}
