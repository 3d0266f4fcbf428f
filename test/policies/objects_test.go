package policies

import (
	"errors"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// markerName is what the config maps are called that tell whether a policy is in force.
// Each policy that is waited for refuses, or changes, those.
const markerName = "marker"

// validating is a ValidatingAdmissionPolicy called name on the creation and update of
// config maps.
func validating(name string, validations ...admissionregistrationv1.Validation) *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: on("", "v1", "configmaps"),
			Validations:      validations,
		},
	}
}

// on matches the creation and update of a resource.
func on(group, version, resource string) *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{
		rule(group, version, resource, admissionregistrationv1.Create, admissionregistrationv1.Update),
	}}
}

func rule(group, version, resource string, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.NamedRuleWithOperations {
	return admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
	}}
}

// binding binds a policy of its own name, to deny.
func binding(policy string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}

// applying is a MutatingAdmissionPolicy called name, on the creation and update of config
// maps, that applies a configuration.
func applying(name, expression string) *admissionregistrationv1.MutatingAdmissionPolicy {
	return mutating(name, admissionregistrationv1.Mutation{
		PatchType:          admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression},
	})
}

// patching is applying with a JSON patch.
func patching(name, expression string) *admissionregistrationv1.MutatingAdmissionPolicy {
	return mutating(name, admissionregistrationv1.Mutation{
		PatchType: admissionregistrationv1.PatchTypeJSONPatch,
		JSONPatch: &admissionregistrationv1.JSONPatch{Expression: expression},
	})
}

func mutating(name string, mutations ...admissionregistrationv1.Mutation) *admissionregistrationv1.MutatingAdmissionPolicy {
	return &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			MatchConstraints:   on("", "v1", "configmaps"),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations:          mutations,
		},
	}
}

func mutatingBinding(policy string) *admissionregistrationv1.MutatingAdmissionPolicyBinding {
	return &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy},
	}
}

// create makes policies and bindings, in their order.
func (w *workspace) create(t testing.TB, objects ...any) {
	t.Helper()
	api := w.kube.AdmissionregistrationV1()
	for _, object := range objects {
		var err error
		switch o := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			_, err = api.ValidatingAdmissionPolicies().Create(t.Context(), o, metav1.CreateOptions{})
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			_, err = api.ValidatingAdmissionPolicyBindings().Create(t.Context(), o, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			_, err = api.MutatingAdmissionPolicies().Create(t.Context(), o, metav1.CreateOptions{})
		case *admissionregistrationv1.MutatingAdmissionPolicyBinding:
			_, err = api.MutatingAdmissionPolicyBindings().Create(t.Context(), o, metav1.CreateOptions{})
		default:
			t.Fatalf("%T is neither a policy nor a binding", o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// refused waits until do is refused, and returns the refusal. As long as the policy is
// not in force, undo takes back what do has done.
func refused(t testing.TB, what string, do func() error, undo func() error) metav1.Status {
	t.Helper()
	var refusal metav1.Status
	servertest.Eventually(t, what+" is refused", func() (bool, any) {
		err := do()
		if err == nil {
			if err := undo(); err != nil {
				t.Fatal(err)
			}
			return false, "it was let through"
		}
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			t.Fatal(err)
		}
		refusal = status.Status()
		return true, nil
	})
	return refusal
}

// inForce waits until the creation of a config map is refused, and returns the refusal.
func (w *workspace) inForce(t testing.TB, pairs ...string) metav1.Status {
	t.Helper()
	return refused(t, "a config map", func() error {
		_, err := w.createConfigMap(t, markerName, pairs...)
		return err
	}, func() error {
		return w.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Delete(t.Context(), markerName, metav1.DeleteOptions{})
	})
}

// eventuallyAllowed waits until a config map without data is let through, and removes it.
func (w *workspace) eventuallyAllowed(t testing.TB) {
	t.Helper()
	servertest.Eventually(t, "a config map is let through", func() (bool, any) {
		_, err := w.createConfigMap(t, markerName)
		return err == nil, err
	})
	if err := w.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Delete(t.Context(), markerName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
