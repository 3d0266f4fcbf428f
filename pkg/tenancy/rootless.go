package tenancy

import (
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// RootlessPath returns the path that lc gives to a tree of its own: a logical cluster that
// no Workspace owns, and whose canonical path does not begin at root, is the top of one.
// ok is false for all others.
func RootlessPath(lc *corev1alpha1.LogicalCluster) (path logicalcluster.Path, ok bool) {
	if lc == nil || lc.Spec.Owner != nil {
		return logicalcluster.Path{}, false
	}
	path, err := logicalcluster.ParsePath(lc.Annotations[logicalcluster.PathAnnotationKey])
	if err != nil {
		return logicalcluster.Path{}, false
	}
	// A single segment is the name of a cluster, and leads there whoever claims it.
	segments := path.Segments()
	return path, len(segments) > 1 && segments[0] != logicalcluster.Root.String()
}
