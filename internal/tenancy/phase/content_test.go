package phase_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestContentIsNamed(t *testing.T) {
	resource := func(name string) schema.GroupResource {
		return schema.GroupResource{Group: "example.com", Resource: name}
	}
	many := phase.Content{Remaining: map[schema.GroupResource]int{}, Finalizers: map[string]int{}}
	for i := range 30 {
		many.Remaining[resource(fmt.Sprintf("r%02d", i))] = 1
		many.Finalizers[fmt.Sprintf("f%02d", i)] = 1
	}
	nested := func(n int) (all []phase.NestedWorkspace) {
		for i := range n {
			path := logicalcluster.Root.Path().Join(fmt.Sprintf("w%d", i))
			all = append(all, phase.NestedWorkspace{Path: path, Phase: corev1alpha1.PhaseTerminating})
		}
		return all
	}
	for name, c := range map[string]struct {
		reason  string
		content phase.Content
		want    string
	}{
		"Counts": {
			reason:  "row 44: what is left is counted, and so is what holds it, sorted",
			content: phase.Content{Remaining: map[schema.GroupResource]int{resource("b"): 2, resource("a"): 1}, Finalizers: map[string]int{"y": 1, "x": 2}},
			want: "Some resources are remaining: a.example.com has 1 resource instances, b.example.com has 2 resource instances; " +
				"Some content in the logical cluster has finalizers remaining: x in 2 resource instances, y in 1 resource instances",
		},
		"Nested": {
			reason:  "nested workspaces are named: their own conditions say more",
			content: phase.Content{Remaining: map[schema.GroupResource]int{resource("a"): 2}, Nested: nested(2)},
			want:    "Some resources are remaining: a.example.com has 2 resource instances; Nested workspaces are remaining: root:w0 (Terminating), root:w1 (Terminating)",
		},
		"ManyNested": {
			reason:  "but not thousands of them",
			content: phase.Content{Remaining: map[schema.GroupResource]int{resource("a"): 7}, Nested: nested(7)},
			want:    "Some resources are remaining: a.example.com has 7 resource instances; Nested workspaces are remaining: root:w0 (Terminating), root:w1 (Terminating), root:w2 (Terminating), root:w3 (Terminating), root:w4 (Terminating) and 2 more",
		},
		"ManyFinalizers": {reason: "whoever makes up finalizers cannot make the message as long as he likes", content: many, want: "f19 in 1 resource instances and 10 more"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.content.Condition().Message; !strings.HasSuffix(got, c.want) {
				t.Errorf("%s:\n got %s\nwant %s", c.reason, got, c.want)
			}
		})
	}
}
