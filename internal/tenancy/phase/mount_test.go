package phase

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

func TestMount(t *testing.T) {
	const good, other = "https://a.example.com", "https://b.example.com"
	now := metav1.NewTime(time.Unix(100, 0))
	deleted := func(ws *tenancyv1alpha1.Workspace) { ws.DeletionTimestamp = &now }
	ready := func(ws *tenancyv1alpha1.Workspace) {
		ws.Spec.URL, ws.Status.Phase = good, corev1alpha1.PhaseReady
		conditions.Set(ws, conditions.Condition{Type: tenancyv1alpha1.WorkspaceMountReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for name, tc := range map[string]struct {
		reason  string
		before  func(*tenancyv1alpha1.Workspace)
		object  *MountObject
		refused error
		phase   corev1alpha1.Phase
		why     string
		message string
		url     string
		same    bool
	}{
		"Missing":      {reason: "what is not there cannot be used", phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotFound", message: `There is no Cluster "c" in namespace "ns" of example.com/v1.`},
		"NoStatus":     {reason: "nothing is known yet", object: &MountObject{}, phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotReady", message: "no status.phase"},
		"Connecting":   {reason: "it says itself that it is not ready, and where it will be", object: &MountObject{Phase: "Connecting", URL: good}, phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotReady", message: `phase "Connecting"`, url: good},
		"NoURL":        {reason: "nobody knows where to go", object: &MountObject{Phase: "Ready"}, phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotReady", message: "no status.URL"},
		"Refused":      {reason: "a bad address is not shown as one to go to", object: &MountObject{Phase: "Ready", URL: other}, refused: errors.New("it is bad"), phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotReady", message: "cannot be used: it is bad."},
		"Ready":        {reason: "it can be used", object: &MountObject{Phase: "Ready", URL: good}, phase: corev1alpha1.PhaseReady, url: good},
		"Lost":         {reason: "where it was is not forgotten", before: ready, phase: corev1alpha1.PhaseUnavailable, why: "MountObjectNotFound", message: "no Cluster", url: good},
		"Moved":        {reason: "the address follows", before: ready, object: &MountObject{Phase: "Ready", URL: other}, phase: corev1alpha1.PhaseReady, url: other},
		"NothingNew":   {reason: "nothing is written", before: ready, object: &MountObject{Phase: "Ready", URL: good}, phase: corev1alpha1.PhaseReady, url: good, same: true},
		"BeingDeleted": {reason: "what goes is left alone", before: deleted, object: &MountObject{Phase: "Ready", URL: good}, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			ws := &tenancyv1alpha1.Workspace{}
			ws.Spec.Mount = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{
				APIVersion: "example.com/v1", Kind: "Cluster", Namespace: "ns", Name: "c",
			}}
			if tc.before != nil {
				tc.before(ws)
			}
			got := Mount(MountInput{Observed: ws, Object: tc.object, Refused: tc.refused, Now: metav1.NewTime(time.Unix(200, 0))})
			if (got == ws) != tc.same {
				t.Errorf("%s: changed: %t", tc.reason, got != ws)
			}
			if got.Status.Phase != tc.phase || got.Spec.URL != tc.url || len(got.Labels)+len(got.Finalizers) > 0 {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			condition, _ := conditions.Get(got, tenancyv1alpha1.WorkspaceMountReady)
			if condition.Reason != tc.why || !strings.Contains(condition.Message, tc.message) {
				t.Errorf("%s: got %+v", tc.reason, condition)
			}
			if !tc.same && (condition.Status == corev1.ConditionTrue) != (tc.why == "") {
				t.Errorf("%s: got %+v", tc.reason, condition)
			}
		})
	}
}
