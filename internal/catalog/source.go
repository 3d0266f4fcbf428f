package catalog

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Source says which definitions a cluster has beside its own CustomResourceDefinitions.
type Source interface {
	// Definitions returns the definitions of cluster, sorted by group and resource.
	// The slice is immutable and stays the same one as long as nothing changes; a
	// change makes a new one. For the wildcard cluster it returns those that all
	// clusters have in common and that can be read across clusters by their name.
	Definitions(cluster logicalcluster.Name) []schema.Served
}

// everyCluster is a Source of definitions that all clusters have.
type everyCluster []schema.Served

// EveryCluster returns a Source that gives all clusters the definitions that crds
// make. They are the system's own: their identity is empty, their names are accepted
// as they stand in the spec, and they are established.
func EveryCluster(crds []*apiextensionsv1.CustomResourceDefinition) (Source, error) {
	served := make(everyCluster, 0, len(crds))
	for _, crd := range crds {
		crd = crd.DeepCopy()
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
		crd.Status.AcceptedNames = crd.Spec.Names
		definition, err := schema.New(crd)
		if err != nil {
			return nil, fmt.Errorf("system definition: %w", err)
		}
		served = append(served, schema.Served{Definition: definition})
	}
	slices.SortFunc(served, schema.Served.Compare)
	return served, nil
}

// Definitions implements Source.
func (e everyCluster) Definitions(logicalcluster.Name) []schema.Served { return e }
