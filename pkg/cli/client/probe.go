package client

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Visibility is what discovery tells about a workspace.
type Visibility int

const (
	// Absent says that there was nothing: the workspace may not exist, or has no APIs.
	Absent Visibility = iota
	// Forbidden says that the caller may not look into the workspace, if there is one.
	Forbidden
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
	case apierrors.IsForbidden(legacyErr) || apierrors.IsForbidden(groupsErr):
		return Forbidden, nil
	default:
		return Absent, nil
	}
}
