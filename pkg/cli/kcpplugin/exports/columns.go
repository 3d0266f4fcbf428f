package exports

import (
	"cmp"
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// clusterAnnotation says in which logical cluster an object is.
const clusterAnnotation = "kcp.io/cluster"

// nothing and unknown stand where there is nothing to say, or nothing that is known.
const (
	nothing = "-"
	unknown = "?"
)

func resources(export client.Export) string {
	var names []string
	for _, r := range export.Spec.Resources {
		names = append(names, schema.GroupResource{Group: r.Group, Resource: r.Name}.String())
	}
	return cmp.Or(strings.Join(names, ","), nothing)
}

func claims(export client.Export) string {
	var names []string
	for _, c := range export.Spec.PermissionClaims {
		names = append(names, claim.Resource(c))
	}
	return cmp.Or(strings.Join(names, ","), nothing)
}

// bindings are those of the workspace from which one looks.
type bindings struct {
	items []client.Binding
	here  logicalcluster.Path
	// hidden says that they could not be read.
	hidden bool
}

// boundIn returns the bindings in the workspace here. Who may not read them may still
// see which exports there are.
func boundIn(ctx context.Context, c *client.Client, here logicalcluster.Path) bindings {
	apis, err := c.APIs(ctx, here)
	if err != nil {
		return bindings{hidden: true}
	}
	items, err := apis.Bindings(ctx)
	return bindings{items: items, here: here, hidden: err != nil}
}

// to returns the name of the binding to an export.
func (b bindings) to(f found) string {
	if b.hidden {
		return unknown
	}
	cluster := f.export.Annotations[clusterAnnotation]
	for i := range b.items {
		export := b.items[i].Spec.Reference.Export
		if export == nil || export.Name != f.export.Name {
			continue
		}
		// An export can be referred to by path or by cluster, and from its own
		// workspace by neither.
		path := cmp.Or(export.Path, b.here.String())
		if path == f.path.String() || cluster != "" && (path == cluster || b.items[i].Status.APIExportClusterName == cluster) {
			return b.items[i].Name
		}
	}
	return nothing
}
