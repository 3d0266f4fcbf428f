package policies

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// mutated waits until what is created is what done expects, and removes it.
func (w *workspace) mutated(t testing.TB, what string, done func(*corev1.ConfigMap) bool, pairs ...string) {
	t.Helper()
	maps := w.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	servertest.Eventually(t, what, func() (bool, any) {
		created, err := w.createConfigMap(t, markerName, pairs...)
		if err != nil {
			return false, err
		}
		if err := maps.Delete(t.Context(), markerName, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		created.ManagedFields = nil
		return done(created), created
	})
}

// apply: a configuration is applied to a built-in kind; what is there already stays.
func apply(t *testing.T, w *workspace) {
	w.create(t, applying("policy", `Object{metadata: Object.metadata{annotations: {"mutated-by": "admission-policy"}}, data: {"replicas": "1337"}}`), mutatingBinding("policy"))
	w.mutated(t, "annotation and data are set", func(m *corev1.ConfigMap) bool {
		return m.Annotations["mutated-by"] == "admission-policy" && m.Data["replicas"] == "1337" && m.Data["kept"] == "yes"
	}, "replicas", "1", "kept", "yes")
	if _, err := w.kube.CoreV1().Secrets("default").Create(t.Context(), secret("other"), metav1.CreateOptions{}); err != nil {
		t.Errorf("another resource: %v", err)
	}
}

// jsonPatch: patches see variables and the old object.
func jsonPatch(t *testing.T, w *workspace) {
	policy := patching("policy", `[
		JSONPatch{op: "test", path: "/data/replicas", value: object.data.replicas},
		JSONPatch{op: "replace", path: "/data/replicas", value: string(variables.doubled)},
		JSONPatch{op: "add", path: "/metadata/annotations", value: {"example.com/operation": "none"}},
		JSONPatch{op: "replace", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/operation"), value: request.operation}
	]`)
	policy.Spec.Variables = []admissionregistrationv1.Variable{{Name: "doubled", Expression: "int(object.data.replicas) * 2"}}
	w.create(t, policy, mutatingBinding("policy"))
	w.mutated(t, "the data is patched", func(m *corev1.ConfigMap) bool {
		return m.Data["replicas"] == "42" && m.Annotations["example.com/operation"] == "CREATE"
	}, "replicas", "21")
}

// mutateCustom: lists of custom resources are merged as their schema says.
func mutateCustom(t *testing.T, w *workspace) {
	group := "stable.example.com"
	policy := applying("policy", `Object{spec: Object.spec{image: "added", args: [Object.spec.args{name: "b", value: "set"}]}}`)
	policy.Spec.MatchConstraints = on(group, "v1", "crontabs")
	w.create(t, policy, mutatingBinding("policy"))
	// The definition comes after the policy, and counts for the first object.
	w.define(t, crontabs(group))
	arg := func(name, value string) any { return map[string]any{"name": name, "value": value} }
	created, err := w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default").Create(t.Context(),
		crontab(group, "v1", "tab", map[string]any{"args": []any{arg("a", "1"), arg("b", "2")}}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	args, _, _ := unstructured.NestedSlice(created.Object, "spec", "args")
	image, _, _ := unstructured.NestedString(created.Object, "spec", "image")
	if image != "added" || len(args) != 2 || args[1].(map[string]any)["value"] != "set" || args[0].(map[string]any)["value"] != "1" {
		t.Errorf("mutated to %v", created.Object["spec"])
	}

	policies := w.kube.AdmissionregistrationV1().MutatingAdmissionPolicies()
	latest, err := policies.Get(t.Context(), "policy", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	latest.Spec.Mutations[0].ApplyConfiguration.Expression = `Object{spec: Object.spec{unknown: "x"}}`
	if _, err := policies.Update(t.Context(), latest, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	tabs := w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default")
	refusal := refused(t, "a field that the schema does not have", func() error {
		_, err := tabs.Create(t.Context(), crontab(group, "v1", markerName, nil), metav1.CreateOptions{})
		return err
	}, func() error { return tabs.Delete(t.Context(), markerName, metav1.DeleteOptions{}) })
	if !strings.Contains(refusal.Message, "unknown") {
		t.Errorf("refused because of %v", refusal.Message)
	}
}

// order: policies are applied in the order of their names, after that those again that
// want to see what others have changed.
func order(t *testing.T, w *workspace) {
	appending := func(name, letter string, again bool) *admissionregistrationv1.MutatingAdmissionPolicy {
		policy := applying(name, `Object{data: {"trace": object.data.trace + "`+letter+`"}}`)
		if again {
			policy.Spec.ReinvocationPolicy = admissionregistrationv1.IfNeededReinvocationPolicy
		}
		return policy
	}
	// Made in another order than they are applied.
	w.create(t, appending("c", "c", false), appending("a", "a", true), appending("b", "b", false),
		mutatingBinding("b"), mutatingBinding("c"), mutatingBinding("a"))
	w.mutated(t, "each policy is applied, the first again", func(m *corev1.ConfigMap) bool { return m.Data["trace"] == "abca" }, "trace", "")
}

// mutateThenValidate: validating policies, and the schema, see what mutating ones made.
func mutateThenValidate(t *testing.T, w *workspace) {
	w.create(t,
		applying("policy", `Object{data: {"replicas": "7"}}`), mutatingBinding("policy"),
		validating("policy", admissionregistrationv1.Validation{Expression: "object.data.replicas != '7'", Message: "seven"}), binding("policy"),
	)
	if refusal := w.inForce(t, "replicas", "1"); !strings.HasSuffix(refusal.Message, "seven") {
		t.Errorf("refused because of %v", refusal.Message)
	}
}

// mutatingParams: parameters and conditions of mutating policies.
func mutatingParams(t *testing.T, w *workspace) {
	policy := applying("policy", `Object{data: {"image": params.data.image}}`)
	policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "Secret"}
	policy.Spec.Mutations[0].ApplyConfiguration.Expression = `Object{data: {"image": params.type}}`
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "unless", Expression: "!('free' in object.data)"}}
	bound := mutatingBinding("policy")
	bound.Spec.ParamRef = &admissionregistrationv1.ParamRef{Name: "image", ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction)}
	w.create(t, policy, bound)
	w.inForce(t, "a", "b")
	image := secret("image")
	image.Type = "example.com/image"
	if _, err := w.kube.CoreV1().Secrets("default").Create(t.Context(), image, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.mutated(t, "the parameter is set", func(m *corev1.ConfigMap) bool { return m.Data["image"] == "example.com/image" }, "a", "b")
	w.mutated(t, "the condition is heeded", func(m *corev1.ConfigMap) bool { return m.Data["image"] == "" }, "free", "yes")
}

// mutatingFailure: a mutation that fails refuses, unless failures are ignored.
func mutatingFailure(t *testing.T, w *workspace) {
	policy := patching("policy", `[JSONPatch{op: "remove", path: "/data/missing"}]`)
	w.create(t, policy, mutatingBinding("policy"))
	refusal := w.inForce(t, "a", "b")
	if !strings.Contains(refusal.Message, `policy 'policy' with binding 'policy' denied request`) || refusal.Reason == metav1.StatusReasonInternalError {
		t.Errorf("refused because of %v", refusal.Message)
	}
	ignoring := mutating("ignoring", policy.Spec.Mutations...)
	ignoring.Spec.FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
	if err := w.kube.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Delete(t.Context(), "policy", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.create(t, ignoring, mutatingBinding("ignoring"))
	w.eventuallyAllowed(t)
}

// mutatingStatus: the status of custom resources and the fields of namespaces.
func mutatingStatus(t *testing.T, w *workspace) {
	group := "stable.example.com"
	w.define(t, crontabs(group))
	status := applying("status", `Object{status: Object.status{ready: true}}`)
	status.Spec.MatchConstraints = on(group, "v1", "crontabs/status")
	namespace := applying("namespace", `Object{metadata: Object.metadata{labels: {"team": "blue"}}}`)
	namespace.Spec.MatchConstraints = on("", "v1", "namespaces")
	w.create(t, status, mutatingBinding("status"), namespace, mutatingBinding("namespace"))
	tabs := w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default")
	if _, err := tabs.Create(t.Context(), crontab(group, "v1", "tab", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the status is mutated", func() (bool, any) {
		tab, err := tabs.Get(t.Context(), "tab", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tab.Object["status"] = map[string]any{}
		if tab, err = tabs.UpdateStatus(t.Context(), tab, metav1.UpdateOptions{}); err != nil {
			return false, err
		}
		ready, _, _ := unstructured.NestedBool(tab.Object, "status", "ready")
		return ready, tab.Object["status"]
	})
	servertest.Eventually(t, "a namespace is mutated", func() (bool, any) {
		made, err := w.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return made.Labels["team"] == "blue", made.Labels
	})
}
