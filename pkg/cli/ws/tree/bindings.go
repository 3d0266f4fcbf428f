package tree

import (
	"cmp"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// exportOf returns the export that a binding in the workspace p takes, as people write it.
func exportOf(binding client.Binding, p logicalcluster.Path) string {
	export := binding.Spec.Reference.Export
	if export == nil {
		return unknownPhase
	}
	return cmp.Or(export.Path, p.String()) + ":" + export.Name
}

// edge leads from a provider to one of its consumers.
type edge struct {
	from, to logicalcluster.Path
	// export is what is consumed.
	export string
}

// edges returns who takes what from whom below top, in the order of the consumers. A
// binding names its provider by path or by logical cluster; one that is in the tree is
// known by its path. Those whose provider is no path at all are left out.
func (m *more) edges(top *node) []edge {
	nodes := top.all()
	byCluster := map[string]logicalcluster.Path{}
	for _, n := range nodes {
		if n.Cluster != "" {
			byCluster[n.Cluster] = n.Path
		}
	}
	var edges []edge
	for _, n := range nodes {
		for _, binding := range m.apis[n.Node].bindings {
			export := binding.Spec.Reference.Export
			if export == nil {
				continue
			}
			from, ok := byCluster[binding.Status.APIExportClusterName]
			if !ok {
				var err error
				if from, err = logicalcluster.ParsePath(cmp.Or(export.Path, n.Path.String())); err != nil {
					continue
				}
			}
			edges = append(edges, edge{from: from, to: n.Path, export: export.Name})
		}
	}
	return edges
}
