package source

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestItemOf(t *testing.T) {
	born := metav1.NewTime(time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC))
	died := metav1.NewTime(born.Add(time.Hour))
	parent := logicalcluster.MustParsePath("root:acme")
	ready := func(edit func(*tenancyv1alpha1.Workspace)) *tenancyv1alpha1.Workspace {
		ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "eu", CreationTimestamp: born}}
		ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "universal"}
		ws.Spec.Cluster, ws.Spec.URL = "2kb1", "https://kcp:6443/clusters/root:acme:eu"
		ws.Status.Phase = corev1alpha1.PhaseReady
		edit(ws)
		return ws
	}
	item := func(edit func(*model.Item)) model.Item {
		i := model.Item{Name: "eu", Path: parent.Join("eu"), Type: "root:universal", Phase: "Ready", Created: born.Time, Cluster: "2kb1"}
		edit(&i)
		return i
	}
	broken := conditions.Conditions{
		{Type: conditions.Ready, Status: corev1.ConditionFalse, Message: "see others", LastTransitionTime: born},
		{Type: "Scheduled", Status: corev1.ConditionFalse, Message: "no \x1b[31mroom", LastTransitionTime: died},
	}
	cases := map[string]struct {
		reason string
		ws     *tenancyv1alpha1.Workspace
		want   model.Item
	}{
		"Ready": {"nothing to wait for", ready(func(*tenancyv1alpha1.Workspace) {}), item(func(*model.Item) {})},
		"Initializing": {"who is waited for", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Status.Phase, ws.Status.Initializers = corev1alpha1.PhaseInitializing, []corev1alpha1.Initializer{"root:a", "root:b"}
		}), item(func(i *model.Item) {
			i.Phase, i.Since, i.Reason = "Initializing", born.Time, "waiting for root:a, root:b"
		})},
		"Scheduling": {"no place, so nobody can look into it; what a server says is no command for the terminal", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Status.Phase, ws.Spec.URL, ws.Status.Conditions = corev1alpha1.PhaseScheduling, "", broken
		}), item(func(i *model.Item) {
			i.Phase, i.Since, i.Path, i.Away, i.Reason = "Scheduling", born.Time, logicalcluster.Path{}, true, "no �[31mroom"
		})},
		"Unavailable": {"since when", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Status.Phase, ws.Status.Conditions = corev1alpha1.PhaseUnavailable, broken
		}), item(func(i *model.Item) { i.Phase, i.Since, i.Reason = "Unavailable", died.Time, "no �[31mroom" })},
		"Deleted": {"whatever its phase says", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.DeletionTimestamp, ws.Status.Terminators = &died, []corev1alpha1.Terminator{"root:a"}
		}), item(func(i *model.Item) { i.Phase, i.Since, i.Reason = "Terminating", died.Time, "waiting for root:a" })},
		"Upwards": {"an address that leads back up would make the tree endless", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Spec.URL = "https://kcp:6443/clusters/root"
		}), item(func(i *model.Item) { i.Path, i.Away = logicalcluster.Path{}, true })},
		"Mount": {"a mount that leads to no workspace is seen by its own path", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Spec.Mount, ws.Spec.URL = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{Kind: "Cluster", Name: "lab"}}, "https://cluster"
		}), item(func(i *model.Item) { i.Mount, i.Away = "Cluster/lab", true })},
		"MountedWorkspace": {"one that does can be entered", ready(func(ws *tenancyv1alpha1.Workspace) {
			ws.Spec.Mount, ws.Spec.URL = &tenancyv1alpha1.Mount{Reference: tenancyv1alpha1.ObjectReference{Kind: "Kcp", Name: "other"}}, "https://other/clusters/root:x"
		}), item(func(i *model.Item) { i.Mount = "Kcp/other" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ItemOf(parent, tc.ws)
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b logicalcluster.Path) bool { return a == b })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
