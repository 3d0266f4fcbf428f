package phase_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

type lc = corev1alpha1.LogicalCluster

// deleted is the metadata of an object that is being deleted.
func deleted(finalizers ...string) metav1.ObjectMeta {
	return metav1.ObjectMeta{DeletionTimestamp: &now, Finalizers: finalizers}
}

func TestLogicalClusterPhase(t *testing.T) {
	initializers := []corev1alpha1.Initializer{"root:b", "root:a"}
	terminators := []corev1alpha1.Terminator{"root:t"}
	cases := map[string]struct {
		reason     string
		observed   *lc
		content    *phase.Content
		want       corev1alpha1.Phase
		finalizers []string
		condition  *conditions.Condition
	}{
		"New": {
			reason:     "what is there is placed, and with nobody to wait for it is Ready",
			observed:   &lc{},
			want:       corev1alpha1.PhaseReady,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
			condition:  &conditions.Condition{Type: "WorkspaceInitialized", Status: corev1.ConditionTrue},
		},
		"Waits": {
			reason:     "initializers and terminators come from the spec",
			observed:   &lc{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: now}, Spec: corev1alpha1.LogicalClusterSpec{Initializers: initializers, Terminators: terminators}},
			want:       corev1alpha1.PhaseInitializing,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators"},
			condition: &conditions.Condition{
				Type: "WorkspaceInitialized", Status: corev1.ConditionFalse, Severity: conditions.SeverityInfo,
				Reason: "InitializerExists", Message: "Initializers still exist: root:a (since 2026-01-02T03:04:05Z, never written), root:b (since 2026-01-02T03:04:05Z, never written)",
			},
		},
		"Done": {
			reason: "the spec is not copied again once the last initializer is gone",
			observed: &lc{
				Spec:   corev1alpha1.LogicalClusterSpec{Initializers: initializers},
				Status: corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseInitializing},
			},
			want:       corev1alpha1.PhaseReady,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
		},
		"Inactive": {
			reason: "an annotation takes it offline",
			observed: &lc{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"core.kcp.io/inactive": "true"}},
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady},
			},
			want:       corev1alpha1.PhaseInactive,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
		},
		"LegacyInactive": {
			reason: "so does its older name",
			observed: &lc{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"internal.kcp.io/inactive": "true"}},
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady},
			},
			want:       corev1alpha1.PhaseInactive,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
		},
		"ActiveAgain": {
			reason: "any other value brings it back",
			observed: &lc{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"core.kcp.io/inactive": "false"}},
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseInactive},
			},
			want:       corev1alpha1.PhaseReady,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
		},
		"Terminating": {
			reason: "terminators are waited for; the content does not wait for them, but its policy does",
			observed: &lc{
				ObjectMeta: deleted("core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators"),
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady, Terminators: terminators},
			},
			content:    &phase.Content{},
			want:       corev1alpha1.PhaseTerminating,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators"},
			condition:  &conditions.Condition{Type: "WorkspaceContentDeleted", Status: corev1.ConditionTrue},
		},
		"Deleting": {
			reason: "the content is waited for, and says what it is; foreign finalizers stay",
			observed: &lc{
				ObjectMeta: deleted("core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators", "foreign"),
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseTerminating},
			},
			content:    &phase.Content{Remaining: map[schema.GroupResource]int{{Resource: "namespaces"}: 1}},
			want:       corev1alpha1.PhaseDeleting,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion", "foreign"},
			condition: &conditions.Condition{
				Type: "WorkspaceContentDeleted", Status: corev1.ConditionFalse, Severity: conditions.SeverityInfo,
				Reason: "SomeResourcesRemain", Message: "Some resources are remaining: namespaces has 1 resource instances",
			},
		},
		"HeldByOthers": {
			reason: "row 45: our finalizer does not wait for those of others, and who they are is told",
			observed: &lc{
				ObjectMeta: deleted("core.kcp.io/logicalcluster-deletion", "b.example.com/x", "a.example.com/x"),
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseDeleting},
			},
			content:    &phase.Content{},
			want:       corev1alpha1.PhaseDeleting,
			finalizers: []string{"b.example.com/x", "a.example.com/x"},
			condition: &conditions.Condition{
				Type: "WorkspaceReleased", Status: corev1.ConditionFalse, Severity: conditions.SeverityInfo,
				Reason: "FinalizersRemain", Message: "The logical cluster is held by finalizers of others (since 2026-01-02T03:04:05Z): a.example.com/x, b.example.com/x",
			},
		},
		"LateContent": {
			reason: "what comes after all was gone is guarded again: the last finalizer of others would let the logical cluster go without it",
			observed: &lc{
				ObjectMeta: deleted("foreign"),
				Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseDeleting},
			},
			content:    &phase.Content{Remaining: map[schema.GroupResource]int{{Resource: "namespaces"}: 1}},
			want:       corev1alpha1.PhaseDeleting,
			finalizers: []string{"foreign", "core.kcp.io/logicalcluster-deletion"},
		},
		"NotLookedAt": {
			reason:     "nothing is let go before somebody has looked",
			observed:   &lc{ObjectMeta: deleted("core.kcp.io/logicalcluster-deletion")},
			want:       corev1alpha1.PhaseDeleting,
			finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := c.observed.DeepCopy()
			got := phase.LogicalCluster(phase.LogicalClusterInput{Observed: c.observed, Content: c.content, Now: now})
			if diff := cmp.Diff(before, c.observed); diff != "" {
				t.Fatalf("the input was changed (-before +after):\n%s", diff)
			}
			if got.Status.Phase != c.want || got.Labels[tenancyv1alpha1.PhaseLabelKey] != string(c.want) {
				t.Errorf("%s: phase is %s with label %s, want %s", c.reason, got.Status.Phase, got.Labels[tenancyv1alpha1.PhaseLabelKey], c.want)
			}
			if diff := cmp.Diff(c.finalizers, got.Finalizers); diff != "" {
				t.Errorf("%s: finalizers (-want +got):\n%s", c.reason, diff)
			}
			if c.condition != nil {
				c.condition.LastTransitionTime = now
				condition, _ := conditions.Get(got, c.condition.Type)
				if diff := cmp.Diff(*c.condition, condition); diff != "" {
					t.Errorf("%s: condition (-want +got):\n%s", c.reason, diff)
				}
			}
			again := phase.LogicalCluster(phase.LogicalClusterInput{Observed: got, Content: c.content, Now: metav1.NewTime(now.Add(time.Hour))})
			if again != got {
				t.Errorf("deciding again changes something:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

func TestLogicalClusterLabelsAndOwner(t *testing.T) {
	stale, value := corev1alpha1.InitializerLabel("root:gone")
	observed := &lc{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{stale: value, "mine": "kept"},
			Annotations: map[string]string{tenancyv1alpha1.OwnerAnnotationKey: `{"username":"alice","uid":"1"}`},
		},
		Status: corev1alpha1.LogicalClusterStatus{
			Phase: corev1alpha1.PhaseInitializing, Initializers: []corev1alpha1.Initializer{"root:a"},
		},
	}
	waiting := phase.LogicalCluster(phase.LogicalClusterInput{Observed: observed, URL: "https://x", Now: now})
	key, value := corev1alpha1.InitializerLabel("root:a")
	want := map[string]string{key: value, "mine": "kept", tenancyv1alpha1.PhaseLabelKey: "Initializing"}
	if diff := cmp.Diff(want, waiting.Labels); diff != "" {
		t.Errorf("labels are those of the status (-want +got):\n%s", diff)
	}
	if waiting.Status.URL != "https://x" {
		t.Errorf("URL is %q", waiting.Status.URL)
	}

	waiting.Status.Initializers = nil
	ready := phase.LogicalCluster(phase.LogicalClusterInput{Observed: waiting, Now: now})
	if got := ready.Annotations[tenancyv1alpha1.OwnerAnnotationKey]; got != `{"username":"alice"}` {
		t.Errorf("once Ready only the name of the owner is kept, got %s", got)
	}
	if ready.Status.URL != "https://x" {
		t.Errorf("no URL leaves the old one, got %q", ready.Status.URL)
	}
}

func TestContentMessage(t *testing.T) {
	content := phase.Content{
		Remaining: map[schema.GroupResource]int{
			{Group: "example.com", Resource: "widgets"}: 2, {Resource: "configmaps"}: 1,
		},
		Finalizers: map[string]int{"example.com/b": 1, "example.com/a": 2},
	}
	want := "Some resources are remaining: configmaps has 1 resource instances, widgets.example.com has 2 resource instances; " +
		"Some content in the logical cluster has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances"
	if diff := cmp.Diff(want, content.Condition().Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	failed := phase.Content{Failure: corev1alpha1.ReasonContentDeletionFailed, Message: "no"}.Condition()
	if failed.Reason != "ContentDeletionFailed" || failed.Severity != conditions.SeverityError || failed.Message != "no" {
		t.Errorf("a failure is an error: %v", failed)
	}
}
