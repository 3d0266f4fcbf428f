package hook

import (
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

// Findings are what could be found out about a hook.
type Findings struct {
	Described
	Commands diagnosis.Commands
	// Now is when that was.
	Now time.Time
	// OlderThan is how long somebody may wait before it blocks.
	OlderThan time.Duration

	// Allowed says whether the caller may act as the hook.
	Allowed    authorizationv1.SubjectAccessReviewStatus
	AllowedErr error

	// Waiting are the logical clusters that wait, as the virtual workspace tells.
	Waiting    []corev1alpha1.LogicalCluster
	WaitingErr error
	// Workspaces are those that wait, for somebody whom the virtual workspace tells
	// nothing: of those in the workspaces Looked.
	Workspaces []tenancyv1alpha1.Workspace
	Looked     []string
	// Asked is on how many shards the virtual workspace was asked.
	Asked int

	// Grants are who may act as the hook because somebody has said so, and Accounts the
	// service accounts in the workspace of the type.
	Grants    []rbacv1.Subject
	GrantsErr error
	Accounts  []string

	// Other is somebody else of whom it is asked whether he may act as the hook.
	Other *Other
}

// Other is what was found out about somebody else.
type Other struct {
	// User is the name of a user or of a service account.
	User string
	// Access says whether he may enter the workspace of the type, Allowed whether he may
	// act as the hook.
	Access, Allowed authorizationv1.SubjectAccessReviewStatus
	Err             error
	// VirtualErr is what the virtual workspace said to him; it is not asked if he may not
	// act as the hook.
	VirtualErr error
}
