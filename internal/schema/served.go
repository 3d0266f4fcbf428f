package schema

import (
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Served is a Definition in one cluster.
type Served struct {
	// Definition is what is served. It is shared and must not be changed.
	Definition *Definition

	// Identity says where the objects are stored: "" those of the system's own APIs,
	// "customresources" those of the cluster's own CustomResourceDefinitions,
	// anything else the identity hash of the export the API is bound from.
	Identity string

	// Export is what the API is bound from; the zero Export if it is not bound.
	Export Export

	// Terminating says that the definition is being deleted: its objects can be
	// read and removed, but none can be created.
	Terminating bool
}

// Export names an APIExport and says what its identity is.
type Export struct {
	Cluster logicalcluster.Name
	Name    string
	// IdentityHash is in the status of the export.
	IdentityHash string
}

// IsBound says whether the API is bound from an export.
func (s Served) IsBound() bool { return s.Export.Name != "" }

var (
	allVerbs         = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	terminatingVerbs = []string{"delete", "deletecollection", "get", "list", "watch"}
)

// Verbs returns what can be done with the resource, sorted. The result is shared and must
// not be changed.
func (s Served) Verbs() []string {
	if s.Terminating {
		return terminatingVerbs
	}
	return allVerbs
}

// Compare orders by group, then by resource.
func (s Served) Compare(other Served) int {
	a, b := s.Definition.GroupResource(), other.Definition.GroupResource()
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return strings.Compare(a.Resource, b.Resource)
}
