package unbind

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/table"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// unknown stands for a number that could not be found out.
const unknown = "?"

// count returns, for each bound resource, how many objects there are.
func count(ctx context.Context, c *client.Client, consumer logicalcluster.Path, binding *client.Binding) []string {
	counts := make([]string, 0, len(binding.Status.BoundResources))
	for _, bound := range binding.Status.BoundResources {
		n, err := c.Count(ctx, consumer, schema.GroupResource{Group: bound.Group, Resource: bound.Resource})
		if err != nil {
			// Who may not see the objects may delete them all the same, with the binding.
			counts = append(counts, unknown)
			continue
		}
		counts = append(counts, strconv.Itoa(n))
	}
	return counts
}

// preview returns what is shown of what goes with the binding.
func preview(d display.Display, consumer logicalcluster.Path, binding *client.Binding, counts []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s in %s%s\n", binding.Name, consumer, source(binding))
	rows := table.New(d, table.Column{}, table.Column{Shrink: table.Cut})
	rows.NoHeaders = true
	for i, bound := range binding.Status.BoundResources {
		rows.Row("  "+objects(counts[i]), resource(bound))
	}
	if rows.Len() == 0 {
		rows.Row("  nothing is bound by it")
	}
	// A Builder takes everything.
	_ = rows.Print(&text)
	return text.String()
}

func source(binding *client.Binding) string {
	export := binding.Spec.Reference.Export
	switch {
	case export == nil:
		return ""
	case export.Path == "":
		return fmt.Sprintf(" (export %s)", export.Name)
	default:
		return fmt.Sprintf(" (export %s:%s)", export.Path, export.Name)
	}
}

func objects(count string) string {
	if count == "1" {
		return "1 object"
	}
	return count + " objects"
}

func resource(bound apisv1alpha2.BoundAPIResource) string {
	return schema.GroupResource{Group: bound.Group, Resource: bound.Resource}.String()
}
