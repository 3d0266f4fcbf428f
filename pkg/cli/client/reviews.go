package client

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// MayBind says whether the caller may bind the export called name in the workspace p,
// or every export there if name is empty.
func (c *Client) MayBind(ctx context.Context, p logicalcluster.Path, name string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "bind", Group: apisGroup, Resource: "apiexports", Name: name},
		},
	}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	err := c.create(ctx, at(p, "apis", reviewGroup, "v1", "selfsubjectaccessreviews"), nil, review, answer)
	return answer.Status.Allowed, err
}
