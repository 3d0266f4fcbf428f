package homes

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// notPermitted is what clients know a home by that they may not have.
const notPermitted refusal = "workspace access not permitted"

// mayCreate asks the policy of root whether the caller may have a home made. A home that is
// there needs no permission.
func (h *Homes) mayCreate(ctx context.Context, caller user.Info) error {
	decision, _, err := h.config.Authorizer.Authorize(logicalcluster.NewContext(ctx, logicalcluster.Root), creating(caller))
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return fmt.Errorf("asking whether %q may have a home: %w", caller.GetName(), err)
	default:
		return notPermitted
	}
}

// creating are the attributes of what having a home made is to the policy of root.
func creating(caller user.Info) authorizer.Attributes {
	return authorizer.AttributesRecord{
		User:            caller,
		Verb:            "create",
		APIGroup:        tenancyv1alpha1.GroupName,
		APIVersion:      tenancyv1alpha1.GroupVersion.Version,
		Resource:        "workspaces",
		Name:            homeName,
		ResourceRequest: true,
	}
}
