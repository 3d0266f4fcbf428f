package client

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
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

// WhoAmI returns whom the server takes the caller for, in the workspace p.
func (c *Client) WhoAmI(ctx context.Context, p logicalcluster.Path) (*authenticationv1.UserInfo, error) {
	review := &authenticationv1.SelfSubjectReview{TypeMeta: metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "SelfSubjectReview"}}
	answer := &authenticationv1.SelfSubjectReview{}
	if err := c.create(ctx, at(p, "apis", "authentication.k8s.io", "v1", "selfsubjectreviews"), nil, review, answer); err != nil {
		return nil, err
	}
	return &answer.Status.UserInfo, nil
}
