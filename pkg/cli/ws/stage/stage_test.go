package stage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

func TestOf(t *testing.T) {
	created := time.Unix(1000, 0)
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(seconds) * time.Second))
	}
	deleted := at(50)
	now := created.Add(60 * time.Second)
	isFalse := func(kind conditions.Type, reason, message string, since metav1.Time) conditions.Condition {
		return conditions.Condition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: since}
	}
	cases := map[string]struct {
		reason string
		status tenancyv1alpha1.WorkspaceStatus
		// deleted says that the workspace is being deleted.
		deleted bool
		want    string
	}{
		"Ready": {reason: "there is nothing to say about most", status: tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}, want: "Ready"},
		"New":   {reason: "a workspace without a phase waits for its place", want: "Scheduling 1m"},
		"Initialize": {reason: "initializers are named", status: tenancyv1alpha1.WorkspaceStatus{
			Phase: corev1alpha1.PhaseInitializing, Initializers: []corev1alpha1.Initializer{"system:apibindings", "root:acme:team"},
			Conditions: conditions.Conditions{isFalse(corev1alpha1.WorkspaceInitialized, "InitializerExists", "2 are left", at(52))},
		}, want: "Initializing 8s: waiting for system:apibindings, root:acme:team"},
		"Unschedulable": {reason: "conditions say it in words", status: tenancyv1alpha1.WorkspaceStatus{
			Phase: corev1alpha1.PhaseScheduling,
			Conditions: conditions.Conditions{
				isFalse(conditions.Ready, "Unschedulable", "", at(0)),
				isFalse(tenancyv1alpha1.WorkspaceScheduled, "Unschedulable", "no shard\nmatches", at(30)),
			},
		}, want: "Scheduling 30s: no shard matches"},
		"Terminating": {reason: "terminators are named", deleted: true, status: tenancyv1alpha1.WorkspaceStatus{
			Phase: corev1alpha1.PhaseReady, Terminators: []corev1alpha1.Terminator{"root:acme:team"},
		}, want: "Terminating 10s: waiting for root:acme:team"},
		"Deleting": {reason: "terminators that are through do not count", deleted: true, status: tenancyv1alpha1.WorkspaceStatus{
			Phase: corev1alpha1.PhaseDeleting, Terminators: []corev1alpha1.Terminator{"root:acme:team"},
			Conditions: conditions.Conditions{isFalse(corev1alpha1.WorkspaceContentDeleted, "SomeResourcesRemain", "3 configmaps remain", at(55))},
		}, want: "Deleting 5s: 3 configmaps remain"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}, Status: tc.status}
			if tc.deleted {
				ws.DeletionTimestamp = &deleted
			}
			if got := Of(ws).Long(now); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Minute: "1h", 47 * time.Hour: "47h", 300 * time.Hour: "12d"} {
		if got := Age(d); got != want {
			t.Errorf("the age of %s is %q, want %q", d, got, want)
		}
	}
}
