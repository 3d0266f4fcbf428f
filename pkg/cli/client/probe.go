package client

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Visibility is what discovery tells about a workspace.
type Visibility int

const (
	// Absent says that there was nothing: the workspace may not exist, or has no APIs.
	Absent Visibility = iota
	// Forbidden says that the caller may not look into the workspace, if there is one.
	Forbidden
	// Inactive says that the workspace is offline: whoever asks is turned away.
	Inactive
	// Visible says that the workspace offers APIs to the caller.
	Visible
)

// Probe finds out whether the caller can work in the workspace p. An error says that
// the question could not be answered.
func (c *Client) Probe(ctx context.Context, p logicalcluster.Path) (Visibility, error) {
	var (
		versions metav1.APIVersions
		groups   metav1.APIGroupList
	)
	legacy := make(chan error, 1)
	go func() { legacy <- c.get(ctx, at(p, "api"), nil, &versions) }()
	groupsErr := c.get(ctx, at(p, "apis"), nil, &groups)
	legacyErr := <-legacy

	for _, err := range []error{legacyErr, groupsErr} {
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
			return Absent, err
		}
	}
	switch {
	case len(versions.Versions)+len(groups.Groups) > 0:
		return Visible, nil
	case isInactive(legacyErr) || isInactive(groupsErr):
		return Inactive, nil
	case apierrors.IsForbidden(legacyErr) || apierrors.IsForbidden(groupsErr):
		return Forbidden, nil
	default:
		return Absent, nil
	}
}

// isInactive says whether err is the answer of a workspace that is offline. No other
// refusal of discovery is about a LogicalCluster.
func isInactive(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Group == corev1alpha1.GroupName && details.Kind == "logicalclusters"
}
