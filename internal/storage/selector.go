package storage

import (
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// clusterField is the name of the index by which the cacher finds the watchers of a
// cluster. Clients cannot name it: the registries know no such field.
const clusterField = "kcp.io/cluster"

// selectCluster adds the cluster to what a watch selects, so that the cacher's index
// over clusters is used.
func selectCluster(predicate storage.SelectionPredicate, cluster logicalcluster.Name) storage.SelectionPredicate {
	if predicate.Field == nil {
		predicate.Field = fields.Everything()
	}
	predicate.Field = inCluster{predicate.Field, cluster}
	predicate.IndexFields = append(slices.Clip(predicate.IndexFields), clusterField)
	return predicate
}

// inCluster selects what the other selector does, of one cluster. That it is of this
// cluster is not looked for in the fields of an object, which would need one more for
// each object: everybody who asks for a cluster asks below its key.
type inCluster struct {
	fields.Selector

	cluster logicalcluster.Name
}

// RequiresExactMatch implements fields.Selector.
func (s inCluster) RequiresExactMatch(field string) (string, bool) {
	if field == clusterField {
		return s.cluster.String(), true
	}
	return s.Selector.RequiresExactMatch(field)
}

// Transform implements fields.Selector.
func (s inCluster) Transform(fn fields.TransformFunc) (fields.Selector, error) {
	transformed, err := s.Selector.Transform(fn)
	if err != nil {
		return nil, err
	}
	return inCluster{transformed, s.cluster}, nil
}

// DeepCopySelector implements fields.Selector.
func (s inCluster) DeepCopySelector() fields.Selector {
	return inCluster{s.Selector.DeepCopySelector(), s.cluster}
}
