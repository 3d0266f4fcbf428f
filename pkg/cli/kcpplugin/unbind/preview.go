package unbind

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/client"
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

// preview shows what goes with the binding.
func preview(w io.Writer, consumer logicalcluster.Path, binding *client.Binding, counts []string) {
	_, _ = fmt.Fprintf(w, "%s in %s%s\n", binding.Name, consumer, source(binding))
	tabs := printers.GetNewTabWriter(w)
	for i, bound := range binding.Status.BoundResources {
		_, _ = fmt.Fprintf(tabs, "  %s\t%s\n", objects(counts[i]), resource(bound))
	}
	_ = tabs.Flush()
	if len(counts) == 0 {
		_, _ = fmt.Fprintln(w, "  nothing is bound by it")
	}
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
