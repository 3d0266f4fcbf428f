package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// newCluster returns a LogicalCluster with hooks of both kinds: all those that it has had,
// and those that are pending.
func newCluster(all, pending []string) *corev1alpha1.LogicalCluster {
	lc := &corev1alpha1.LogicalCluster{}
	lc.Name = corev1alpha1.LogicalClusterName
	for _, id := range all {
		lc.Spec.Initializers = append(lc.Spec.Initializers, corev1alpha1.Initializer(id))
		lc.Spec.Terminators = append(lc.Spec.Terminators, corev1alpha1.Terminator(id))
	}
	setHooks(lc, pending)
	lc.Status.Phase = corev1alpha1.PhaseInitializing
	lc.Status.URL = "https://host/clusters/x"
	return lc
}

func setHooks(lc *corev1alpha1.LogicalCluster, pending []string) {
	lc.Status.Initializers, lc.Status.Terminators = nil, nil
	for _, id := range pending {
		lc.Status.Initializers = append(lc.Status.Initializers, corev1alpha1.Initializer(id))
		lc.Status.Terminators = append(lc.Status.Terminators, corev1alpha1.Terminator(id))
	}
}

func TestApplyHooks(t *testing.T) {
	const own, other, done = "root:own", "root:other", "root:done"
	all := []string{done, own, other}
	for name, tc := range map[string]struct {
		reason      string
		stored      []string
		asked, want []string
		refused     bool
	}{
		"Nothing":      {reason: "who changes something else leaves them alone", stored: []string{own, other}, asked: []string{own, other}, want: []string{own, other}},
		"Order":        {reason: "their order means nothing and stays", stored: []string{own, other}, asked: []string{other, own}, want: []string{own, other}},
		"Repeated":     {reason: "nor does saying it twice", stored: []string{own, other}, asked: []string{own, other, own}, want: []string{own, other}},
		"Own":          {reason: "its own is removed", stored: []string{own, other}, asked: []string{other}, want: []string{other}},
		"Last":         {reason: "also if there is no other", stored: []string{own}, asked: nil, want: nil},
		"Stale":        {reason: "a list that was read before another was removed does not bring that back", stored: []string{own, other}, asked: []string{done, other}, want: []string{other}},
		"StaleOnly":    {reason: "even if it has nothing else", stored: []string{own}, asked: []string{done, other}, want: nil},
		"Revived":      {reason: "one that is gone is not added", stored: []string{own}, asked: []string{own, done}, refused: true},
		"Other":        {reason: "that of another stays", stored: []string{own, other}, asked: []string{own}, refused: true},
		"Both":         {reason: "also if its own goes", stored: []string{own, other}, asked: nil, refused: true},
		"Added":        {reason: "none is added that never was", stored: []string{own}, asked: []string{own, "root:new"}, refused: true},
		"AddedInstead": {reason: "not in place of its own either", stored: []string{own, other}, asked: []string{other, "root:new"}, refused: true},
	} {
		for _, kind := range []tenancy.HookKind{tenancy.Initializing, tenancy.Terminating} {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				hook, err := tenancy.ParseHook(kind, own)
				if err != nil {
					t.Fatal(err)
				}
				lc := newCluster(all, tc.stored)
				asked := lc.DeepCopy()
				switch kind {
				case tenancy.Terminating:
					asked.Status.Terminators = newCluster(nil, tc.asked).Status.Terminators
				default:
					asked.Status.Initializers = newCluster(nil, tc.asked).Status.Initializers
				}
				before := lc.DeepCopy()
				got, err := apply(hook, lc, asked)
				if diff := cmp.Diff(before, lc); diff != "" {
					t.Errorf("%s: what is stored was changed: %s", tc.reason, diff)
				}
				if tc.refused {
					text := `only removing the "root:own" ` + wordsFor(kind).noun + ` is supported`
					if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), text) {
						t.Errorf("%s: got %v", tc.reason, err)
					}
					return
				}
				if err != nil {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				want := before.DeepCopy()
				switch kind {
				case tenancy.Terminating:
					want.Status.Terminators = newCluster(nil, tc.want).Status.Terminators
				default:
					want.Status.Initializers = newCluster(nil, tc.want).Status.Initializers
				}
				if diff := cmp.Diff(asStrings(want.Status.Initializers), asStrings(got.Status.Initializers)); diff != "" {
					t.Errorf("%s: initializers: %s", tc.reason, diff)
				}
				if diff := cmp.Diff(asStrings(want.Status.Terminators), asStrings(got.Status.Terminators)); diff != "" {
					t.Errorf("%s: terminators: %s", tc.reason, diff)
				}
			})
		}
	}
}

func TestApplyRest(t *testing.T) {
	hook, err := tenancy.ParseHook(tenancy.Initializing, "root:own")
	if err != nil {
		t.Fatal(err)
	}
	set := func(kind conditions.Type, status corev1.ConditionStatus) conditions.Condition {
		return conditions.Condition{Type: kind, Status: status}
	}
	for name, tc := range map[string]struct {
		reason  string
		change  func(*corev1alpha1.LogicalCluster)
		refused string
		check   func(*corev1alpha1.LogicalCluster) bool
	}{
		"Metadata": {
			reason: "only the status is looked at",
			change: func(lc *corev1alpha1.LogicalCluster) {
				lc.Labels, lc.Finalizers = map[string]string{"a": "b"}, []string{"x"}
				lc.Spec.DirectlyDeletable, lc.Spec.Initializers = true, nil
			},
			check: func(lc *corev1alpha1.LogicalCluster) bool {
				return len(lc.Labels)+len(lc.Finalizers) == 0 && !lc.Spec.DirectlyDeletable && len(lc.Spec.Initializers) == 1
			},
		},
		"Phase":       {reason: "the phase is the server's", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Phase = corev1alpha1.PhaseReady }, refused: "status.phase"},
		"URL":         {reason: "so is the address", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.URL = "x" }, refused: "status.URL"},
		"Terminators": {reason: "what is waited for at the end is none of an initializer's business", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Terminators = nil }, refused: "status.terminators"},
		"Condition": {
			reason: "a condition is added",
			change: func(lc *corev1alpha1.LogicalCluster) {
				lc.Status.Conditions = append(lc.Status.Conditions, set("Prepared", corev1.ConditionTrue))
			},
			check: func(lc *corev1alpha1.LogicalCluster) bool {
				c, _ := conditions.Get(lc, "Prepared")
				return c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() && len(lc.Status.Conditions) == 4
			},
		},
		"Cleared": {
			reason: "conditions are removed, but for those of the server",
			change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Conditions = nil },
			check: func(lc *corev1alpha1.LogicalCluster) bool {
				return len(lc.Status.Conditions) == 2 && conditions.IsFalse(lc, corev1alpha1.WorkspaceInitialized) && conditions.IsFalse(lc, corev1alpha1.APIBindingsInitialized)
			},
		},
		"Claimed": {
			reason: "nor does anybody else say what the server says",
			change: func(lc *corev1alpha1.LogicalCluster) {
				lc.Status.Conditions = conditions.Conditions{
					set(corev1alpha1.WorkspaceInitialized, corev1.ConditionTrue), set(corev1alpha1.APIBindingsInitialized, corev1.ConditionTrue), set("WorkspaceOther", corev1.ConditionFalse),
				}
			},
			check: func(lc *corev1alpha1.LogicalCluster) bool {
				return len(lc.Status.Conditions) == 2 && conditions.IsFalse(lc, corev1alpha1.WorkspaceInitialized) && conditions.IsFalse(lc, corev1alpha1.APIBindingsInitialized)
			},
		},
		"NoType":   {reason: "a condition has a type", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Conditions[0].Type = "" }, refused: "status.conditions[0].type"},
		"NoStatus": {reason: "and a status", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Conditions[1].Status = "" }, refused: "status.conditions[1].status"},
		"Severity": {reason: "and one of three severities", change: func(lc *corev1alpha1.LogicalCluster) { lc.Status.Conditions[2].Severity = "Bad" }, refused: "status.conditions[2].severity"},
	} {
		t.Run(name, func(t *testing.T) {
			lc := newCluster([]string{"root:own"}, []string{"root:own"})
			for _, kind := range []conditions.Type{"Mine", corev1alpha1.WorkspaceInitialized, corev1alpha1.APIBindingsInitialized} {
				conditions.MarkFalse(lc, kind, "Waiting", conditions.SeverityInfo, "Waiting.")
			}
			asked := lc.DeepCopy()
			tc.change(asked)
			got, err := apply(hook, lc, asked)
			switch {
			case tc.refused == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.refused == "" && !tc.check(got):
				t.Errorf("%s: got %+v", tc.reason, got)
			case tc.refused != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.refused)):
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}
