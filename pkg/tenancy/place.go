package tenancy

import (
	"errors"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Place is a logical cluster by both its names.
type Place struct {
	// Cluster is the name of the logical cluster.
	Cluster logicalcluster.Name
	// Path is its canonical path: the names of the workspaces that lead to it, or the
	// cluster name if none do.
	Path logicalcluster.Path
}

// PlaceOf returns the place of the logical cluster that lc describes. lc may be nil
// for a cluster that has no LogicalCluster, such as the system ones.
func PlaceOf(cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) Place {
	place := Place{Cluster: cluster, Path: cluster.Path()}
	if lc == nil {
		return place
	}
	if value, ok := lc.Annotations[logicalcluster.PathAnnotationKey]; ok {
		if path, err := logicalcluster.ParsePath(value); err == nil {
			place.Path = path
		}
	}
	return place
}

// PlaceOfStored is PlaceOf for a LogicalCluster that was read from storage and so
// says itself where it is.
func PlaceOfStored(lc *corev1alpha1.LogicalCluster) (Place, error) {
	cluster := logicalcluster.FromAnnotations(lc.Annotations)
	if cluster.Empty() {
		return Place{}, errors.New("the logical cluster does not say where it is: annotation " + logicalcluster.AnnotationKey + " is missing")
	}
	return PlaceOf(cluster, lc), nil
}
