package defaultbindings

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
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
	if !defaultbindings.Initializing(waiting) || conditions.Reason(waiting, waits.Type) != waits.Reason || waiting.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("it waits, and says for what: %+v", waiting.Status)
	}
	if again := conclude(waiting, &waits, now); again != waiting {
		t.Error("nothing has changed, and it is written again")
	}
	done := conclude(waiting, nil, now)
	if defaultbindings.Initializing(done) || conditions.Has(done, waits.Type) || done.Status.Phase != corev1alpha1.PhaseReady {
		t.Errorf("it is ready when nothing is waited for: %+v", done.Status)
	}
	if unfinished(done) {
		t.Error("there is nothing left to do")
	}
	more := conclude(waitingFor("root:other", corev1alpha1.InitializerAPIBindings), nil, now)
	if defaultbindings.Initializing(more) || more.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("others have not finished: %+v", more.Status)
	}
	old := waitingFor()
	old.Annotations, old.Status.Phase = nil, corev1alpha1.PhaseReady
	if !unfinished(old) || conclude(old, &waits, now) != old {
		t.Error("a workspace of an earlier server is not initialized a second time")
	}
}

func TestOnlyThoseThatWaitAreWoken(t *testing.T) {
	var w waiting
	here := func(cluster, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: cluster}}}
	}
	one, two, three := logicalcluster.MustParseName("one"), logicalcluster.MustParseName("two"), logicalcluster.MustParseName("three")
	if keys := w.cluster(here("one", "x")); keys != nil {
		t.Errorf("nobody waits, and %v are woken", keys)
	}
	tree := tenancytest.New(t)
	tree.AddTypeSpec("root", "t", tenancyv1alpha1.WorkspaceTypeSpec{})
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root"), tenancyv1alpha1.WorkspaceTypeReference{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	w.add(one, interestIn(set, []defaultbindings.Wanted{{Path: "root", Export: "horses"}}))
	w.add(two, interestIn(nil, nil))
	for name, c := range map[string]struct {
		reason string
		keys   []controller.Key
		want   []controller.Key
	}{
		"Binding":      {"a binding wakes its own workspace", w.cluster(here("one", "x")), []controller.Key{keyOf(one)}},
		"OtherBinding": {"and no other one", w.cluster(here("three", "x")), nil},
		"Export":       {"an export wakes those that want one of its name, or do not know yet", w.export(here("three", "horses")), []controller.Key{keyOf(one), keyOf(two)}},
		"OtherExport":  {"other exports are not waited for", w.export(here("three", "cows")), []controller.Key{keyOf(two)}},
		"Type":         {"a type wakes those that have it", w.workspaceType(here("root", "t")), []controller.Key{keyOf(one), keyOf(two)}},
		"TypeNearby":   {"a type of that name elsewhere is another one", w.workspaceType(here("three", "t")), []controller.Key{keyOf(two)}},
	} {
		if !sets.New(c.keys...).Equal(sets.New(c.want...)) {
			t.Errorf("%s: %s: woken are %v, not %v", name, c.reason, c.keys, c.want)
		}
	}
	w.remove(one)
	w.remove(two)
	w.add(three, interest{})
	if keys := w.export(here("one", "horses")); keys != nil {
		t.Errorf("it waits no more, and %v are woken", keys)
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		reason       string
		waited, want time.Duration
	}{
		{"what has just begun to wait is looked at soon", 0, 2 * time.Second},
		{"a clock that was set back changes nothing", -time.Hour, 2 * time.Second},
		{"what has waited may wait longer", 5 * time.Minute, 30 * time.Second},
		{"what is forgotten costs next to nothing, and is found all the same", 24 * time.Hour, time.Minute},
	} {
		if got := pause(c.waited); got != c.want {
			t.Errorf("%s: %s", c.reason, got)
		}
	}
}
