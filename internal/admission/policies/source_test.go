package policies_test

import (
	"context"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	apiadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/policies"
	validatingpolicy "github.com/forkless/kcp/internal/admission/policies/validating"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	here  = logicalcluster.MustParseName("here")
	there = logicalcluster.MustParseName("there")
)

// compiled stands for what a policy is compiled to: how many were before it.
type compiled int

type source = policies.Source[*validating.Policy, *validating.PolicyBinding, compiled]

type hook = generic.PolicyHook[*validating.Policy, *validating.PolicyBinding, compiled]

// told is an index that is told by a test.
type told struct {
	*testing.T
	index *configurations.Index
	configurations.Listener
}

func newTold(t *testing.T) told {
	t.Helper()
	index := admissiontest.NoConfigurations()
	t.Cleanup(index.Close)
	return told{T: t, index: index, Listener: index.Listener()}
}

func newSource(index *configurations.Index) *source {
	count := compiled(0)
	return policies.NewSource(index, policies.Kind[*validating.Policy, *validating.PolicyBinding, compiled]{
		Policies: configurations.ValidatingPolicies,
		Bindings: configurations.ValidatingPolicyBindings,
		Policy:   validatingpolicy.Policy,
		Binding: func(stored runtime.Object) (*validating.PolicyBinding, error) {
			in := stored.(*admissionregistration.ValidatingAdmissionPolicyBinding)
			return &validating.PolicyBinding{
				ObjectMeta: in.ObjectMeta,
				Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: in.Spec.PolicyName},
			}, nil
		},
		PolicyAccessor:  validating.NewValidatingAdmissionPolicyAccessor,
		BindingAccessor: validating.NewValidatingAdmissionPolicyBindingAccessor,
		Spec:            func(policy *validating.Policy) any { return &policy.Spec },
		Compile:         func(*validating.Policy) compiled { count++; return count },
	})
}

func policyIn(cluster logicalcluster.Name, name, expression string) *admissionregistration.ValidatingAdmissionPolicy {
	return &admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metaIn(cluster, name),
		Spec: admissionregistration.ValidatingAdmissionPolicySpec{
			Validations: []admissionregistration.Validation{{Expression: expression}},
		},
	}
}

func bindingIn(cluster logicalcluster.Name, name, policy string) *admissionregistration.ValidatingAdmissionPolicyBinding {
	return &admissionregistration.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metaIn(cluster, name),
		Spec:       admissionregistration.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy},
	}
}

func metaIn(cluster logicalcluster.Name, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: cluster.String()}}
}

func (t told) policy(cluster logicalcluster.Name, name, expression string) {
	t.Changed(configurations.ValidatingPolicies, policyIn(cluster, name, expression))
}

func (t told) bind(cluster logicalcluster.Name, name, policy string) {
	t.Changed(configurations.ValidatingPolicyBindings, bindingIn(cluster, name, policy))
}

func (t told) unbind(cluster logicalcluster.Name, name string) {
	t.Gone(configurations.ValidatingPolicyBindings, bindingIn(cluster, name, ""))
}

func attributes(resource string) apiadmission.Attributes {
	return admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource(resource), Kind: "ConfigMap",
		Operation: apiadmission.Create, Namespace: "default", Object: &corev1.ConfigMap{},
	}.Attributes()
}

func (t told) hooks(s *source, cluster logicalcluster.Name) []hook {
	t.Helper()
	hooks, _, err := s.For(logicalcluster.NewContext(t.Context(), cluster), attributes("configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	return hooks
}

// names returns policies with their bindings, as "policy:binding,binding".
func names(hooks []hook) []string {
	var all []string
	for _, hook := range hooks {
		name := hook.Policy.Name + ":"
		for _, binding := range hook.Bindings {
			name += binding.Name + ","
		}
		all = append(all, name)
	}
	return all
}

func TestBound(t *testing.T) {
	told := newTold(t)
	source := newSource(told.index)
	for _, step := range []struct {
		reason string
		do     func()
		want   []string
	}{
		{"there is nothing", func() {}, nil},
		{"a policy without a binding does nothing", func() { told.policy(here, "b", "1") }, nil},
		{"a binding of a policy that is yet to come does nothing", func() { told.bind(here, "3", "a") }, nil},
		{"a binding makes a policy count", func() { told.bind(here, "2", "b") }, []string{"b:2,"}},
		{"a policy may come after its binding", func() { told.policy(here, "a", "1") }, []string{"a:3,", "b:2,"}},
		{"bindings of a policy are in order", func() { told.bind(here, "1", "b") }, []string{"a:3,", "b:1,2,"}},
		{"another cluster changes nothing", func() { told.policy(there, "a", "1"); told.bind(there, "9", "a") }, []string{"a:3,", "b:1,2,"}},
		{"a binding may turn to another policy", func() { told.bind(here, "2", "a") }, []string{"a:2,3,", "b:1,"}},
		{"a policy goes before its bindings", func() {
			told.Gone(configurations.ValidatingPolicies, policyIn(here, "a", "1"))
		}, []string{"b:1,"}},
		{"bindings go", func() { told.unbind(here, "1"); told.unbind(here, "2"); told.unbind(here, "3") }, nil},
	} {
		step.do()
		if diff := cmp.Diff(step.want, names(told.hooks(source, here))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	if diff := cmp.Diff([]string{"a:9,"}, names(told.hooks(source, there))); diff != "" {
		t.Errorf("the other cluster (-want +got):\n%s", diff)
	}
}

func TestUnchangedIsNotReadAgain(t *testing.T) {
	told := newTold(t)
	source := newSource(told.index)
	told.policy(here, "a", "1")
	told.bind(here, "a", "a")
	first, second := told.hooks(source, here), told.hooks(source, here)
	if unsafe.SliceData(first) != unsafe.SliceData(second) {
		t.Error("a request that found nothing changed has made the hooks anew")
	}
	told.bind(here, "b", "a")
	if third := told.hooks(source, here); third[0].Evaluator != first[0].Evaluator {
		t.Error("a policy was compiled again because it has another binding")
	}
}

func TestCompiledIsShared(t *testing.T) {
	told := newTold(t)
	source := newSource(told.index)
	size := func(reason string, want policies.Size) {
		t.Helper()
		told.hooks(source, here)
		told.hooks(source, there)
		if diff := cmp.Diff(want, source.Size()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	for _, cluster := range []logicalcluster.Name{here, there} {
		told.policy(cluster, "a", "1")
	}
	size("what nobody needs is not compiled", policies.Size{})
	for _, cluster := range []logicalcluster.Name{here, there} {
		told.bind(cluster, "a", "a")
	}
	size("equal policies are compiled once", policies.Size{Workspaces: 2, Compiled: 1})
	told.policy(there, "a", "2")
	size("another content is another compilation", policies.Size{Workspaces: 2, Compiled: 2})
	if a, b := told.hooks(source, here)[0].Evaluator, told.hooks(source, there)[0].Evaluator; a == b {
		t.Error("policies of different content share an evaluator")
	}
	told.policy(here, "a", "2")
	size("the last user of a compilation takes it with him", policies.Size{Workspaces: 2, Compiled: 1})
	told.policy(here, "a", "2")
	size("a change of something else", policies.Size{Workspaces: 2, Compiled: 1})
	told.unbind(here, "a")
	eventually(t, "one of two has gone", func() bool { return source.Size() == policies.Size{Workspaces: 1, Compiled: 1} })
	told.unbind(there, "a")
	eventually(t, "nothing is left", func() bool { return source.Size() == policies.Size{} })
}

// eventually waits for what follows the end of a context.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return done(), nil
	})
	if err != nil {
		t.Errorf("not in time: %s", what)
	}
}

func TestInForceToTheEnd(t *testing.T) {
	told := newTold(t)
	source := newSource(told.index)
	told.policy(here, "a", "1")
	told.bind(here, "a", "a")
	told.hooks(source, here)
	told.index.Close()
	for range 3 {
		if hooks := told.hooks(source, here); len(hooks) != 1 {
			t.Fatal("the last requests of a server that stops get past the policies")
		}
	}
}

func TestNothingBeforeAllIsKnown(t *testing.T) {
	index := configurations.NewIndex(nil)
	t.Cleanup(index.Close)
	ctx, cancel := context.WithCancel(logicalcluster.NewContext(t.Context(), here))
	cancel()
	_, _, err := newSource(index).For(ctx, attributes("configmaps"))
	if !apierrors.IsForbidden(err) {
		t.Errorf("a request before the policies are known: %v", err)
	}
}

func TestNoCluster(t *testing.T) {
	told := newTold(t)
	if _, _, err := newSource(told.index).For(t.Context(), attributes("configmaps")); !apierrors.IsInternalError(err) {
		t.Errorf("a request of no cluster: %v", err)
	}
}

func BenchmarkWithoutPolicies(b *testing.B) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	for i := range 1000 {
		index.Listener().Changed(configurations.ValidatingPolicyBindings, bindingIn(logicalcluster.MustParseName("c"+strconv.Itoa(i)), "a", "a"))
	}
	source, ctx, a := newSource(index), logicalcluster.NewContext(b.Context(), here), attributes("configmaps")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := source.For(ctx, a); err != nil {
			b.Fatal(err)
		}
	}
}
