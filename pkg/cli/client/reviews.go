package client

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Review asks whether the caller may do something in the workspace p, and why.
func (c *Client) Review(ctx context.Context, p logicalcluster.Path, what authorizationv1.ResourceAttributes) (authorizationv1.SubjectAccessReviewStatus, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		TypeMeta: reviewType("SelfSubjectAccessReview"),
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what},
	}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	err := c.create(ctx, at(p, "apis", reviewGroup, "v1", "selfsubjectaccessreviews"), nil, review, answer)
	return answer.Status, err
}

// nowhere is no name of a namespace, so that nothing is granted in it alone.
const nowhere = "-"

// Rules returns what the policy of the workspace p grants the caller in all of it. What
// others have a say in, such as the providers of what is bound there, is not taken off.
// complete says that there is no more.
func (c *Client) Rules(ctx context.Context, p logicalcluster.Path) (rules []authorizationv1.ResourceRule, complete bool, err error) {
	review := &authorizationv1.SelfSubjectRulesReview{
		TypeMeta: reviewType("SelfSubjectRulesReview"),
		Spec:     authorizationv1.SelfSubjectRulesReviewSpec{Namespace: nowhere},
	}
	answer := &authorizationv1.SelfSubjectRulesReview{}
	err = c.create(ctx, at(p, "apis", reviewGroup, "v1", "selfsubjectrulesreviews"), nil, review, answer)
	return answer.Status.ResourceRules, !answer.Status.Incomplete, err
}

// ReviewOf asks whether somebody else may do something in the workspace p, and why.
func (c *Client) ReviewOf(ctx context.Context, p logicalcluster.Path, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
	review := &authorizationv1.SubjectAccessReview{TypeMeta: reviewType("SubjectAccessReview"), Spec: spec}
	answer := &authorizationv1.SubjectAccessReview{}
	err := c.create(ctx, at(p, "apis", reviewGroup, "v1", "subjectaccessreviews"), nil, review, answer)
	return answer.Status, err
}

func reviewType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: authorizationv1.GroupName + "/v1", Kind: kind}
}

// WhoAmI returns whom the server takes the caller for, in the workspace p.
func (c *Client) WhoAmI(ctx context.Context, p logicalcluster.Path) (authenticationv1.UserInfo, error) {
	review := &authenticationv1.SelfSubjectReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.GroupName + "/v1", Kind: "SelfSubjectReview"},
	}
	answer := &authenticationv1.SelfSubjectReview{}
	err := c.create(ctx, at(p, "apis", authenticationv1.GroupName, "v1", "selfsubjectreviews"), nil, review, answer)
	return answer.Status.UserInfo, err
}

// May says whether the caller may do something in the workspace p.
func (c *Client) May(ctx context.Context, p logicalcluster.Path, what authorizationv1.ResourceAttributes) (bool, error) {
	answer, err := c.Review(ctx, p, what)
	return answer.Allowed, err
}

// MayBind says whether the caller may bind the export called name in the workspace p,
// or every export there if name is empty.
func (c *Client) MayBind(ctx context.Context, p logicalcluster.Path, name string) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "bind", Group: apisGroup, Resource: "apiexports", Name: name})
}

// MayUseType says whether the caller may make workspaces of the type called name that is
// in the workspace p.
func (c *Client) MayUseType(ctx context.Context, p logicalcluster.Path, name string) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "use", Group: tenancyGroup, Resource: "workspacetypes", Name: name})
}

// MayCreateWorkspaces says whether the caller may create workspaces in the workspace p.
func (c *Client) MayCreateWorkspaces(ctx context.Context, p logicalcluster.Path) (bool, error) {
	return c.May(ctx, p, authorizationv1.ResourceAttributes{Verb: "create", Group: tenancyGroup, Resource: "workspaces"})
}
