package defaultbindings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/controller"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func waitingFor(initializers ...corev1alpha1.Initializer) *corev1alpha1.LogicalCluster {
	return &corev1alpha1.LogicalCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name:        corev1alpha1.LogicalClusterName,
			Annotations: map[string]string{apisv1alpha1.ResourceBindingsAnnotationKey: "{}"},
		},
		Status: corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseInitializing, Initializers: initializers},
	}
}

func TestConclude(t *testing.T) {
	waits := conditions.Condition{
		Type: corev1alpha1.APIBindingsInitialized, Status: corev1.ConditionFalse, Severity: conditions.SeverityInfo,
		Reason: corev1alpha1.ReasonWaitingOnAPIBindings, Message: "not yet",
	}
	now := metav1.Now().Rfc3339Copy()

	waiting := conclude(waitingFor(corev1alpha1.InitializerAPIBindings), &waits, now)
	if !initializing(waiting) || conditions.Reason(waiting, waits.Type) != waits.Reason || waiting.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("it waits, and says for what: %+v", waiting.Status)
	}
	if again := conclude(waiting, &waits, now); again != waiting {
		t.Error("nothing has changed, and it is written again")
	}
	done := conclude(waiting, nil, now)
	if initializing(done) || conditions.Has(done, waits.Type) || done.Status.Phase != corev1alpha1.PhaseReady {
		t.Errorf("it is ready when nothing is waited for: %+v", done.Status)
	}
	if unfinished(done) {
		t.Error("there is nothing left to do")
	}
	more := conclude(waitingFor("root:other", corev1alpha1.InitializerAPIBindings), nil, now)
	if initializing(more) || more.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("others have not finished: %+v", more.Status)
	}
	old := waitingFor()
	old.Annotations, old.Status.Phase = nil, corev1alpha1.PhaseReady
	if !unfinished(old) || conclude(old, &waits, now) != old {
		t.Error("a workspace of an earlier server is not initialized a second time")
	}
}

func TestTypeOf(t *testing.T) {
	for annotation, want := range map[string]tenancyv1alpha1.WorkspaceTypeReference{
		"root:universal":    {Path: "root", Name: "universal"},
		"root:org:own":      {Path: "root:org", Name: "own"},
		"0123456789abcdef:": {Path: "0123456789abcdef"},
		"universal":         {Name: "universal"},
		"":                  {},
	} {
		lc := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{tenancyv1alpha1.TypeAnnotationKey: annotation},
		}}
		if diff := cmp.Diff(want, typeOf(lc)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", annotation, diff)
		}
	}
}

func TestOnlyThoseThatWaitAreWoken(t *testing.T) {
	var w waiting
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{logicalcluster.AnnotationKey: "one"}}}
	one, two := logicalcluster.MustParseName("one"), logicalcluster.MustParseName("two")
	if keys := w.cluster(obj); keys != nil {
		t.Errorf("nobody waits, and %v are woken", keys)
	}
	w.add(one)
	w.add(two)
	if diff := cmp.Diff([]controller.Key{keyOf(one)}, w.cluster(obj), cmp.Comparer(func(a, b controller.Key) bool { return a == b })); diff != "" {
		t.Errorf("a binding wakes its own cluster (-want +got):\n%s", diff)
	}
	if keys := w.all(obj); len(keys) != 2 {
		t.Errorf("an export may be what anybody waits for, woken are %v", keys)
	}
	w.remove(one)
	if keys := w.cluster(obj); keys != nil {
		t.Errorf("it waits no more, and %v are woken", keys)
	}
}
