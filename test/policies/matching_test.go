package policies

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// selectors: namespaces and objects are selected by labels, of policy and binding.
func selectors(t *testing.T, w *workspace) {
	w.createNamespace(t, "strict", "policies", "strict")
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "never"})
	policy.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"checked": "yes"}}
	bound := binding("policy")
	bound.Spec.MatchResources = &admissionregistrationv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"policies": "strict"}},
	}
	w.create(t, policy, bound)
	create := func(namespace string, labels map[string]string) error {
		object := configMap(markerName)
		object.Labels = labels
		_, err := w.kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
		return err
	}
	labeled := map[string]string{"checked": "yes"}
	refused(t, "a config map in the selected namespace", func() error { return create("strict", labeled) }, func() error {
		return w.kube.CoreV1().ConfigMaps("strict").Delete(t.Context(), markerName, metav1.DeleteOptions{})
	})
	if err := create("strict", nil); err != nil {
		t.Errorf("the object is not selected: %v", err)
	}
	if err := create(metav1.NamespaceDefault, labeled); err != nil {
		t.Errorf("the namespace is not selected: %v", err)
	}
	// A namespace that was made a moment ago, and one whose labels have changed.
	w.createNamespace(t, "new", "policies", "strict")
	if err := create("new", labeled); !apierrors.IsInvalid(err) {
		t.Errorf("in a new namespace: %v", err)
	}
	patch := []byte(`{"metadata":{"labels":{"policies":null}}}`)
	if _, err := w.kube.CoreV1().Namespaces().Patch(t.Context(), "new", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := create("new", labeled); err != nil {
		t.Errorf("the namespace is not selected any more: %v", err)
	}
}

// rules: what is excluded, names, and how the match policy finds other versions.
func rules(t *testing.T, w *workspace) {
	group := "stable.example.com"
	w.define(t, crontabs(group))
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "object.apiVersion == 'never'", MessageExpression: "'saw ' + object.apiVersion"})
	policy.Spec.MatchConstraints = on(group, "v1", "crontabs")
	excluded := rule(group, "*", "crontabs", admissionregistrationv1.OperationAll)
	excluded.ResourceNames = []string{"excluded"}
	policy.Spec.MatchConstraints.ExcludeResourceRules = []admissionregistrationv1.NamedRuleWithOperations{excluded}
	exact := validating("exact", admissionregistrationv1.Validation{Expression: "false", Message: "exact"})
	exact.Spec.MatchConstraints = on(group, "v1", "crontabs")
	exactly := admissionregistrationv1.Exact
	exact.Spec.MatchConstraints.MatchPolicy = &exactly
	w.create(t, policy, binding("policy"))

	create := func(version, name string) error {
		_, err := w.dynamic.Resource(resourceOf(group, version)).Namespace("default").Create(t.Context(), crontab(group, version, name, nil), metav1.CreateOptions{})
		return err
	}
	refusal := refused(t, "a crontab of the other version", func() error { return create("v1beta1", markerName) }, func() error {
		return w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default").Delete(t.Context(), markerName, metav1.DeleteOptions{})
	})
	if !strings.HasSuffix(refusal.Message, "saw "+group+"/v1") {
		t.Errorf("the object was not converted to the version of the rule: %v", refusal.Message)
	}
	if err := create("v1", "excluded"); err != nil {
		t.Errorf("what is excluded: %v", err)
	}

	api := w.kube.AdmissionregistrationV1()
	if err := api.ValidatingAdmissionPolicyBindings().Delete(t.Context(), "policy", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.create(t, exact, binding("exact"))
	refused(t, "a crontab of exactly that version", func() error { return create("v1", markerName) }, func() error {
		return w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default").Delete(t.Context(), markerName, metav1.DeleteOptions{})
	})
	if err := create("v1beta1", "beta"); err != nil {
		t.Errorf("the rule is exact: %v", err)
	}
}

// conditions: policies look at requests that all their conditions let through.
func conditions(t *testing.T, w *workspace) {
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "never"})
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{
		{Name: "exclude-names", Expression: "!object.metadata.name.startsWith('free-')"},
		{Name: "request", Expression: "request.operation == 'CREATE' && request.resource.resource == 'configmaps' && request.userInfo.username != ''"},
	}
	w.create(t, policy, binding("policy"))
	w.inForce(t)
	free, err := w.createConfigMap(t, "free-1")
	if err != nil {
		t.Fatalf("a condition is not met: %v", err)
	}
	free.Data = map[string]string{"a": "b"}
	if _, err := w.kube.CoreV1().ConfigMaps("default").Update(t.Context(), free, metav1.UpdateOptions{}); err != nil {
		t.Errorf("an update: %v", err)
	}
}

// failures: an expression that cannot be evaluated refuses, unless failures are ignored.
func failures(t *testing.T, w *workspace) {
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "object.data.missing == 'x'"}), binding("policy"))
	refusal := w.inForce(t)
	if want := "no such key: data"; !strings.Contains(refusal.Message, want) {
		t.Errorf("refused because of %v, wanted %s", refusal, want)
	}
	ignoring := admissionregistrationv1.Ignore
	api := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	// The type check writes the status at some time.
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		policy, err := api.Get(t.Context(), "policy", metav1.GetOptions{})
		if err != nil {
			return err
		}
		policy.Spec.FailurePolicy = &ignoring
		_, err = api.Update(t.Context(), policy, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.eventuallyAllowed(t)
	_, err = w.createConfigMap(t, "evaluated", "missing", "y")
	if !apierrors.IsInvalid(err) {
		t.Errorf("what can be evaluated is still refused: %v", err)
	}
}

// reasons: a validation says with which reason, and so which code, it refuses.
func reasons(t *testing.T, w *workspace) {
	forbidden := metav1.StatusReasonForbidden
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "go away", Reason: &forbidden}), binding("policy"))
	refusal := w.inForce(t)
	if refusal.Reason != metav1.StatusReasonForbidden || refusal.Code != 403 {
		t.Errorf("refused with %d %s", refusal.Code, refusal.Reason)
	}
}

// operations: deletion, collections, updates with the old object, and the status.
func operations(t *testing.T, w *workspace) {
	w.create(t,
		with(validating("deletion", admissionregistrationv1.Validation{
			Expression: "!has(oldObject.metadata.labels) || !('keep' in oldObject.metadata.labels)", Message: "keep it",
		}), rule("", "v1", "configmaps", admissionregistrationv1.Delete)), binding("deletion"),
		validating("update", admissionregistrationv1.Validation{
			Expression: "oldObject == null || object.data.step == oldObject.data.step || object.data.step == oldObject.data.step + 'x'", Message: "one step at a time",
		}), binding("update"),
	)
	kept := configMap("kept", "step", "")
	kept.Labels = map[string]string{"keep": "yes"}
	maps := w.kube.CoreV1().ConfigMaps("default")
	create := func() error {
		_, err := maps.Create(t.Context(), kept, metav1.CreateOptions{})
		return err
	}
	if err := create(); err != nil {
		t.Fatal(err)
	}
	refused(t, "a deletion", func() error { return maps.Delete(t.Context(), "kept", metav1.DeleteOptions{}) }, create)
	if err := maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "keep"}); !apierrors.IsInvalid(err) {
		t.Errorf("the deletion of a collection: %v", err)
	}
	for _, step := range []struct {
		to      string
		allowed bool
	}{{"xx", false}, {"x", true}, {"xx", true}} {
		_, err := maps.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: kept.ObjectMeta, Data: map[string]string{"step": step.to}}, metav1.UpdateOptions{})
		if step.allowed != (err == nil) {
			t.Errorf("the step to %q: %v", step.to, err)
		}
	}
	if _, err := maps.Patch(t.Context(), "kept", types.MergePatchType, []byte(`{"data":{"step":"xxxxx"}}`), metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a patch of many steps: %v", err)
	}
}

// with replaces what a policy matches.
func with(policy *admissionregistrationv1.ValidatingAdmissionPolicy, rules ...admissionregistrationv1.NamedRuleWithOperations) *admissionregistrationv1.ValidatingAdmissionPolicy {
	policy.Spec.MatchConstraints.ResourceRules = rules
	return policy
}

// subresources: the status is checked where a rule says so, and only there.
func subresources(t *testing.T, w *workspace) {
	group := "stable.example.com"
	w.define(t, crontabs(group))
	policy := validating("policy", admissionregistrationv1.Validation{
		Expression: "!has(object.status) || !object.status.ready", MessageExpression: "'not ready: ' + request.subResource",
	})
	policy.Spec.MatchConstraints = on(group, "v1", "crontabs/status")
	w.create(t, policy, binding("policy"))
	tabs := w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default")
	object, err := tabs.Create(t.Context(), crontab(group, "v1", "a", map[string]any{"replicas": int64(1)}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ready := func(ready bool) error {
		latest, err := tabs.Get(t.Context(), object.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		latest.Object["status"] = map[string]any{"ready": ready}
		_, err = tabs.UpdateStatus(t.Context(), latest, metav1.UpdateOptions{})
		return err
	}
	refusal := refused(t, "a status", func() error { return ready(true) }, func() error { return ready(false) })
	if !strings.HasSuffix(refusal.Message, "not ready: status") {
		t.Errorf("refused with %v", refusal.Message)
	}
	if err := ready(false); err != nil {
		t.Errorf("another status: %v", err)
	}
}

// namespaces: policies on namespaces select by the labels of the namespace itself, and
// have no namespaceObject.
func namespaces(t *testing.T, w *workspace) {
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "namespaceObject == null && 'team' in object.metadata.labels", Message: "whose is it?"})
	policy.Spec.MatchConstraints = on("", "v1", "namespaces")
	policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"checked": "yes"}}
	w.create(t, policy, binding("policy"))
	create := func(name string, labels ...string) error {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name, Labels: configMap("", labels...).Data}}
		_, err := w.kube.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
		return err
	}
	refused(t, "a namespace", func() error { return create("a-", "checked", "yes") }, func() error { return nil })
	if err := create("a-", "checked", "yes", "team", "blue"); err != nil {
		t.Error(err)
	}
	if err := create("a-"); err != nil {
		t.Errorf("what is not selected: %v", err)
	}
}

// exemptions: reviews are answered and policies can be removed, whatever policies say.
func exemptions(t *testing.T, w *workspace) {
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "never"})
	policy.Spec.MatchConstraints.ResourceRules = []admissionregistrationv1.NamedRuleWithOperations{rule("*", "*", "*", admissionregistrationv1.OperationAll)}
	w.create(t, policy, binding("policy"))
	w.inForce(t)
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "configmaps"},
	}}
	if _, err := w.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
		t.Errorf("a review: %v", err)
	}
	w.create(t, validating("other", admissionregistrationv1.Validation{Expression: "true"}))
	for _, remove := range []func(context.Context, string, metav1.DeleteOptions) error{
		w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete,
		w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete,
	} {
		if err := remove(t.Context(), "policy", metav1.DeleteOptions{}); err != nil {
			t.Fatalf("nobody could get out again: %v", err)
		}
	}
	w.eventuallyAllowed(t)
}

// definitionLater: a policy may be there before the definition that it is about.
func definitionLater(t *testing.T, w *workspace) {
	group := "stable.example.com"
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "object.spec.replicas > 1", Message: "too few"})
	policy.Spec.MatchConstraints = on(group, "v1", "crontabs")
	w.create(t, policy, binding("policy"))
	w.define(t, crontabs(group))
	create := func(name string, replicas int64) error {
		_, err := w.dynamic.Resource(resourceOf(group, "v1")).Namespace("default").
			Create(t.Context(), crontab(group, "v1", name, map[string]any{"replicas": replicas}), metav1.CreateOptions{})
		return err
	}
	if err := create("few", 1); !apierrors.IsInvalid(err) {
		t.Errorf("the first object of the definition: %v", err)
	}
	if err := create("many", 2); err != nil {
		t.Error(err)
	}
}
