package binding_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/binding"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

func TestDecideEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		remaining map[apischema.GroupResource]binding.Remaining
		err       error
		because   string
		message   string
	}{
		"Nothing": {reason: "it may go"},
		"NoneLeft": {
			reason: "what is counted is nothing", remaining: map[apischema.GroupResource]binding.Remaining{cowboys: {}},
		},
		"Failed": {
			reason: "deleting has failed", err: errors.New("cowboys.wildwest.dev: listing instances: broken"),
			because: apisv1alpha1.ReasonResourceDeletionFailed, message: "cowboys.wildwest.dev: listing instances: broken",
		},
		"Finalizers": {
			reason: "finalizers hold some", because: apisv1alpha1.ReasonSomeFinalizersRemain,
			remaining: map[apischema.GroupResource]binding.Remaining{
				cowboys: {Instances: 3, Finalizers: map[string]int{"b": 1, "a": 1}}, horses: {Instances: 1, Finalizers: map[string]int{"a": 1}},
			},
			message: "Some content in the workspace has finalizers remaining: a in 2 resource instances, b in 1 resource instances",
		},
		"Instances": {
			reason: "some have not gone yet", because: apisv1alpha1.ReasonSomeResourcesRemain,
			remaining: map[apischema.GroupResource]binding.Remaining{cowboys: {Instances: 3}},
			message:   "Some resources are remaining: cowboys.wildwest.dev has 3 resource instances",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBinding()
			wanted, done := binding.DecideEnd(binding.Ending{Binding: b, Remaining: tc.remaining, Err: tc.err, Now: now})
			if done != (tc.because == "") {
				t.Errorf("%s: done %v", tc.reason, done)
			}
			c, _ := conditions.Get(wanted, apisv1alpha1.BindingResourceDeleteSuccess)
			if c.Reason != tc.because || c.Message != tc.message {
				t.Errorf("%s: got %+v", tc.reason, c)
			}
			if again, _ := binding.DecideEnd(binding.Ending{Binding: wanted, Remaining: tc.remaining, Err: tc.err, Now: now}); again != wanted {
				t.Errorf("%s: the second decision is another one", tc.reason)
			}
		})
	}
}

func TestInherits(t *testing.T) {
	stranger := exportOf(offer(cowboys, "Cowboy"))
	stranger.Object.Status.IdentityHash = "another"
	dying := newBinding()
	dying.DeletionTimestamp = &now
	for name, tc := range map[string]struct {
		reason    string
		candidate *apisv1alpha2.APIBinding
		export    *binding.Export
		want      bool
	}{
		"Same":            {"the same resource under the same identity", newBinding(), exportOf(offer(cowboys, "Cowboy")), true},
		"AnotherSchema":   {"an export that has moved has schemas of its own", newBinding(), exportOf(offer(cowboys, "Cowboy", func(o *binding.Offer) { o.UID = "new" })), true},
		"AnotherIdentity": {"the objects are those of somebody else", newBinding(), stranger, false},
		"AnotherResource": {"it does not want them", newBinding(), exportOf(offer(horses, "Horse")), false},
		"Dying":           {"it goes as well", dying, exportOf(offer(cowboys, "Cowboy")), false},
		"NoExport":        {"it wants nothing", newBinding(), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := binding.Inherits(tc.candidate, tc.export, todayCowboys); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
	heir := binding.Inherit(binding.Inherit(newBinding(), provider, todayHorses), provider, todayCowboys)
	heir = binding.Inherit(heir, provider, todayCowboys)
	if diff := cmp.Diff([]apisv1alpha2.BoundAPIResource{todayHorses, todayCowboys}, heir.Status.BoundResources); diff != "" {
		t.Errorf("what is inherited (-want +got):\n%s", diff)
	}
}

func TestLocks(t *testing.T) {
	lc := &corev1alpha1.LogicalCluster{}
	locks := binding.LocksOf(lc).With(binding.Lock{Binding: "x"}, cowboys).With(binding.Lock{CRD: true}, horses).
		With(binding.Lock{Binding: "y"}, apischema.GroupResource{Resource: "services"})
	lc = binding.WithLocks(lc, locks)
	const key = apisv1alpha1.ResourceBindingsAnnotationKey
	if got, want := lc.Annotations[key], `{"cowboys.wildwest.dev":{"n":"x"},"horses.wildwest.dev":{"c":true},"services":{"n":"y"}}`; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
	if diff := cmp.Diff(locks, binding.LocksOf(lc)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if binding.WithLocks(lc, locks) != lc {
		t.Error("what is written already is written again")
	}
	left := locks.Without(binding.Lock{Binding: "x"}).WithoutCRD(horses).WithoutCRD(apischema.GroupResource{Resource: "services"})
	if diff := cmp.Diff(binding.Locks{"services": {Binding: "y"}}, left); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(binding.Locks{"services": {Binding: "y"}}, locks.Of(binding.Lock{Binding: "y"})); diff != "" {
		t.Errorf("what one holds (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"", "{", "null", "[]"} {
		lc := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: broken}}}
		if got := binding.WithLocks(lc, binding.LocksOf(lc)); len(binding.LocksOf(lc)) != 0 || got.Annotations[key] != "{}" {
			t.Errorf("%q is read as %v and written as %q", broken, binding.LocksOf(lc), got.Annotations[key])
		}
	}
}
