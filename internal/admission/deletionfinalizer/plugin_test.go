package deletionfinalizer_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/deletionfinalizer"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const ours = "core.kcp.io/logicalcluster-deletion"

func TestPlugin(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	with := func(finalizers ...string) *corev1alpha1.LogicalCluster {
		return &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Finalizers: finalizers}}
	}
	dying := func(finalizers ...string) *corev1alpha1.LogicalCluster {
		lc := with(finalizers...)
		lc.DeletionTimestamp = &now
		return lc
	}
	cases := map[string]struct {
		reason  string
		user    user.Info
		old, lc *corev1alpha1.LogicalCluster
		want    []string
		denied  string
	}{
		"Create":  {reason: "a new one gets it", lc: with(), want: []string{ours}},
		"Keep":    {reason: "it is there once", old: with(ours), lc: with(ours, "x"), want: []string{ours, "x"}},
		"Dropped": {reason: "it cannot be dropped", old: with(ours), lc: with("x"), want: []string{"x", ours}},
		"DroppedPrivileged": {
			reason: "by nobody", user: admissiontest.Masters(), old: with(ours), lc: with(), want: []string{ours},
		},
		"PretendedDeletion": {
			reason: "a time of deletion that a client sends counts for nothing",
			old:    with(ours), lc: dying(), want: []string{ours},
		},
		"Dying":           {reason: "nor while it is being deleted", old: dying(ours), lc: dying(), denied: "removed by the system"},
		"DyingAdmin":      {reason: "not even by an admin", user: admissiontest.User("system:kcp:admin"), old: dying(ours), lc: dying(), denied: "removed by the system"},
		"DyingPrivileged": {reason: "the system may then", user: admissiontest.Masters(), old: dying(ours), lc: dying()},
		"DyingWithout":    {reason: "what has lost it can be changed", old: dying("x"), lc: dying()},
		"DyingKept":       {reason: "other finalizers are not ours to guard", old: dying(ours, "x"), lc: dying(ours), want: []string{ours}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource:  corev1alpha1.GroupVersion.WithResource("logicalclusters"),
				Kind:      "LogicalCluster",
				Operation: admission.Create,
				Object:    admissiontest.Unstructured(t, c.lc),
				User:      c.user,
			}
			if c.old != nil {
				r.Operation, r.Old = admission.Update, admissiontest.Unstructured(t, c.old)
			}
			ctx := admissiontest.In(t, logicalcluster.Root)
			plugin := deletionfinalizer.New(deletionfinalizer.LogicalClusters)
			if err := plugin.Admit(ctx, r.Attributes(), nil); err != nil {
				t.Fatal(err)
			}
			admissiontest.Check(t, c.reason, plugin.Validate(ctx, r.Attributes(), nil), c.denied)
			if c.denied == "" {
				if diff := cmp.Diff(c.want, r.Object.(*unstructured.Unstructured).GetFinalizers()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
		})
	}
}

func TestLostInBetween(t *testing.T) {
	object := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	r := admissiontest.Request{
		Resource:  corev1alpha1.GroupVersion.WithResource("logicalclusters"),
		Operation: admission.Update,
		Object:    admissiontest.Unstructured(t, object),
		Old:       admissiontest.Unstructured(t, object),
		User:      admissiontest.Masters(),
	}
	err := deletionfinalizer.New(deletionfinalizer.LogicalClusters).Validate(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil)
	admissiontest.Check(t, "a webhook cannot take it off", err, "is required")
}
