package policies

import (
	"context"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// limited is a policy that compares config maps with a limit among the parameters, and
// its binding.
func limited(kind admissionregistrationv1.ParamKind, limit string, ref admissionregistrationv1.ParamRef) (
	*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding,
) {
	policy := validating("policy", admissionregistrationv1.Validation{
		Expression:        "int(object.data.replicas) <= int(" + limit + ")",
		MessageExpression: "'more than ' + string(" + limit + ") + ' of ' + params.kind + ' ' + params.metadata.name",
	})
	policy.Spec.ParamKind = &kind
	bound := binding("policy")
	if ref.ParameterNotFoundAction == nil {
		ref.ParameterNotFoundAction = ptr.To(admissionregistrationv1.DenyAction)
	}
	bound.Spec.ParamRef = &ref
	return policy, bound
}

// builtinParams: parameters of a built-in kind, by name, in a namespace of their own.
// What changes in them counts at once.
func builtinParams(t *testing.T, w *workspace) {
	w.createNamespace(t, "limits")
	policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, "params.data.limit",
		admissionregistrationv1.ParamRef{Name: "limit", Namespace: "limits"})
	w.create(t, policy, bound)
	refusal := w.inForce(t, "replicas", "1")
	if want := "no params found for policy binding with `Deny` parameterNotFoundAction"; !strings.Contains(refusal.Message, want) {
		t.Errorf("without parameters it is refused because of %v", refusal.Message)
	}

	limits := w.kube.CoreV1().ConfigMaps("limits")
	if _, err := limits.Create(t.Context(), configMap("limit", "limit", "3", "replicas", "0"), metav1.CreateOptions{}); err == nil {
		t.Error("the policy is about parameters, too: it has none yet")
	}
	// So the binding leaves out the namespace of the parameters.
	bindings := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	patch := []byte(`{"spec":{"matchResources":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}}}}}`)
	if _, err := bindings.Patch(t.Context(), "policy", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the parameters can be written", func() (bool, any) {
		_, err := limits.Create(t.Context(), configMap("limit", "limit", "3"), metav1.CreateOptions{})
		return err == nil, err
	})
	w.allowsUpTo(t, 3)
	if _, err := limits.Update(t.Context(), configMap("limit", "limit", "5"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.allowsUpTo(t, 5)
	_, err := w.createConfigMap(t, markerName, "replicas", "6")
	if err == nil || !strings.HasSuffix(err.Error(), "more than 5 of ConfigMap limit") {
		t.Errorf("the message is made of the parameters: %v", err)
	}
	if err := limits.Delete(t.Context(), "limit", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.inForce(t, "replicas", "1")
	patch = []byte(`{"spec":{"paramRef":{"parameterNotFoundAction":"Allow"}}}`)
	if _, err := bindings.Patch(t.Context(), "policy", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventuallyAllowed(t)
}

// allowsUpTo waits until as many replicas are allowed and no more.
func (w *workspace) allowsUpTo(t *testing.T, most int) {
	t.Helper()
	allowed := func(n int) (bool, any) {
		_, err := w.kube.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(markerName, "replicas", string(rune('0'+n))),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, err
	}
	servertest.Eventually(t, "the limit is in force", func() (bool, any) {
		within, seen := allowed(most)
		beyond, _ := allowed(most + 1)
		return within && !beyond, seen
	})
}

// customParams: parameters of a kind that the workspace defines, after the policy, seen
// in the version the policy names, cluster-scoped, by name.
func customParams(t *testing.T, w *workspace) {
	group := "limits.example.com"
	policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: group + "/v1beta1", Kind: "CronTab"}, "params.spec.replicas",
		admissionregistrationv1.ParamRef{Name: "limit"})
	policy.Spec.Validations = append(policy.Spec.Validations, admissionregistrationv1.Validation{
		Expression: "params.apiVersion == '" + group + "/v1beta1'", MessageExpression: "'saw ' + params.apiVersion",
	})
	w.create(t, policy, bound)
	refusal := w.inForce(t, "replicas", "1")
	if want := "failed to configure policy: failed to find resource referenced by paramKind: '" + group + "/v1beta1, Kind=CronTab'"; !strings.Contains(refusal.Message, want) {
		t.Errorf("without the kind it is refused because of %v", refusal.Message)
	}
	w.define(t, clusterScoped(crontabs(group)))
	limits := w.dynamic.Resource(resourceOf(group, "v1"))
	if _, err := limits.Create(t.Context(), crontab(group, "v1", "limit", map[string]any{"replicas": int64(2)}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.allowsUpTo(t, 2)
	if _, err := limits.Patch(t.Context(), "limit", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.allowsUpTo(t, 4)
}

// selectedParams: parameters by label, in the namespace of the request; each is asked.
func selectedParams(t *testing.T, w *workspace) {
	group := "limits.example.com"
	w.define(t, crontabs(group))
	policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: group + "/v1", Kind: "CronTab"}, "params.spec.replicas",
		admissionregistrationv1.ParamRef{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"limit": "yes"}}})
	w.create(t, policy, bound)
	w.inForce(t, "replicas", "1")
	limit := func(namespace, name string, replicas int64, labels map[string]string) {
		object := crontab(group, "v1", name, map[string]any{"replicas": replicas})
		object.SetLabels(labels)
		if _, err := w.dynamic.Resource(resourceOf(group, "v1")).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	selected := map[string]string{"limit": "yes"}
	w.createNamespace(t, "other")
	limit("other", "low", 1, selected)
	limit("default", "lower", 2, nil)
	limit("default", "high", 6, selected)
	w.allowsUpTo(t, 6)
	limit("default", "middle", 4, selected)
	w.allowsUpTo(t, 4)
}

// misplacedParams: a namespace for parameters that have none is a mistake that is told.
func misplacedParams(t *testing.T, w *workspace) {
	policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "Namespace"}, "params.metadata.labels.limit",
		admissionregistrationv1.ParamRef{Name: "default", Namespace: "default"})
	w.create(t, policy, bound)
	refusal := w.inForce(t, "replicas", "1")
	if want := "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"; !strings.Contains(refusal.Message, want) {
		t.Errorf("refused because of %v", refusal.Message)
	}
}

// ownParams: a kind of ours, of which every workspace has an object, is a parameter too.
func ownParams(t *testing.T, w *workspace) {
	policy := validating("policy", admissionregistrationv1.Validation{
		Expression: "false", MessageExpression: "'phase ' + params.status.phase + ' of ' + params.metadata.name",
	})
	policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "core.kcp.io/v1alpha1", Kind: "LogicalCluster"}
	bound := binding("policy")
	bound.Spec.ParamRef = &admissionregistrationv1.ParamRef{Name: "cluster", ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction)}
	w.create(t, policy, bound)
	if refusal := w.inForce(t); !strings.HasSuffix(refusal.Message, "phase Ready of cluster") {
		t.Errorf("refused because of %v", refusal.Message)
	}
}

// paramsOfOthers: parameters are those of the workspace, whatever others call theirs.
func paramsOfOthers(t *testing.T, w *workspace) {
	other := newWorkspace(t, w.server)
	for at, limit := range map[*workspace]string{w: "2", other: "7"} {
		at.createNamespace(t, "limits")
		if _, err := at.kube.CoreV1().ConfigMaps("limits").Create(t.Context(), configMap("limit", "limit", limit), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		policy, bound := limited(admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, "params.data.limit",
			admissionregistrationv1.ParamRef{Name: "limit", Namespace: "limits"})
		at.create(t, policy, bound)
	}
	w.allowsUpTo(t, 2)
	other.allowsUpTo(t, 7)
	if err := w.kube.CoreV1().ConfigMaps("limits").Delete(t.Context(), "limit", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.inForce(t, "replicas", "1")
	other.allowsUpTo(t, 7)
}

// escalation: who may write policies may not read through them what he may not read.
func escalation(t *testing.T, w *workspace) {
	w.grant(t, "user-1", "policies", grantOf("admissionregistration.k8s.io", "*", "*"))
	user := w.as(t, "user-1-token")
	secretly := func(apiVersion, kind string) *admissionregistrationv1.ValidatingAdmissionPolicy {
		policy := validating("policy-on-"+strings.ToLower(kind), admissionregistrationv1.Validation{Expression: "params != null"})
		policy.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: apiVersion, Kind: kind}
		return policy
	}
	create := func(ctx context.Context, policy *admissionregistrationv1.ValidatingAdmissionPolicy) error {
		_, err := user.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
		return err
	}
	group := "limits.example.com"
	w.define(t, crontabs(group))
	if err := create(t.Context(), secretly("v1", "Secret")); !unreadable(err) {
		t.Errorf("a policy with secrets as parameters: %v", err)
	}
	if err := create(t.Context(), secretly(group+"/v1", "CronTab")); !unreadable(err) {
		t.Errorf("a policy with custom resources as parameters: %v", err)
	}
	if err := create(t.Context(), secretly("other.example.com/v1", "Other")); !unreadable(err) {
		t.Errorf("a policy with parameters that nobody knows: %v", err)
	}
	w.grant(t, "user-1", "crontabs", grantOf(group, "crontabs", "get", "list"))
	servertest.Eventually(t, "who may read the parameters may write the policy", func() (bool, any) {
		err := create(t.Context(), secretly(group+"/v1", "CronTab"))
		return err == nil, err
	})
	w.grant(t, "user-1", "others", grantOf("other.example.com", "*", "get", "list"))
	servertest.Eventually(t, "where nobody knows the resource it takes all of the group", func() (bool, any) {
		err := create(t.Context(), secretly("other.example.com/v1", "Other"))
		return err == nil, err
	})
	// The administrator's policy takes secrets; a binding needs the right to read them.
	w.create(t, secretly("v1", "Secret"))
	bound := binding("policy-on-secret")
	bound.Spec.ParamRef = &admissionregistrationv1.ParamRef{Name: "secret", Namespace: "default", ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction)}
	_, err := user.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), bound, metav1.CreateOptions{})
	if !unreadable(err) {
		t.Errorf("a binding to a secret: %v", err)
	}
}

// unreadable says whether err says that the user may not read the parameters.
func unreadable(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), `"get" permission on`)
}
