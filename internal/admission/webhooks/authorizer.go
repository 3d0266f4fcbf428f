package webhooks

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// authorizerIn answers what match conditions ask for the cluster that the plugin is used
// in. The library of CEL asks with a context of its own, in which there is no cluster.
func authorizerIn(here informers.Where, delegate authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		return delegate.Authorize(logicalcluster.NewContext(ctx, here()), attributes)
	})
}
