package namespace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"
)

func TestDecide(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Resource: "widgets"}
	configMaps := schema.GroupVersionResource{Resource: "configmaps"}
	for name, tc := range map[string]struct {
		reason  string
		content Content
		gone    bool
		// want are the conditions that hold, by type, with their messages.
		want map[core.NamespaceConditionType]string
	}{
		"Nothing": {
			reason: "without content every condition says that all is well",
			gone:   true,
			want:   map[core.NamespaceConditionType]string{},
		},
		"Held": {
			reason: "what is left is counted, and so are the finalizers that hold it",
			content: Content{
				Remaining:  map[schema.GroupVersionResource]int{widgets: 2, configMaps: 1},
				Finalizers: map[string]int{"b.example.com/x": 1, "a.example.com/x": 2},
			},
			want: map[core.NamespaceConditionType]string{
				"NamespaceContentRemaining":    "Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 2 resource instances",
				"NamespaceFinalizersRemaining": "Some content in the namespace has finalizers remaining: a.example.com/x in 2 resource instances, b.example.com/x in 1 resource instances",
			},
		},
		"Failed": {
			reason:  "a failure keeps the namespace even if nothing seems to be left",
			content: Content{Failure: "etcd is full"},
			want:    map[core.NamespaceConditionType]string{"NamespaceDeletionContentFailure": "etcd is full"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.content.Gone(); got != tc.gone {
				t.Errorf("%s: gone is %v", tc.reason, got)
			}
			status := Decide(&core.Namespace{}, tc.content, metav1.Now())
			if status.Phase != core.NamespaceTerminating || len(status.Conditions) != 5 {
				t.Errorf("%s: %+v", tc.reason, status)
			}
			got := map[core.NamespaceConditionType]string{}
			for _, condition := range status.Conditions {
				if condition.Status == core.ConditionTrue {
					got[condition.Type] = condition.Message
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestDecideKeepsTimesWhileNothingChanges(t *testing.T) {
	first := metav1.NewTime(time.Unix(1000, 0))
	once := Decide(&core.Namespace{}, Content{}, first)
	again := Decide(&core.Namespace{Status: once}, Content{}, metav1.NewTime(time.Unix(2000, 0)))
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("a second look at the same content writes the status anew: %s", diff)
	}
}
