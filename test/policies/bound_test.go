package policies

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

// boundObjects: the policies about what a workspace has bound are those of the provider,
// with its parameters. Namespaces and permissions are those of the workspace.
func boundObjects(t *testing.T, provider *workspace) {
	servertest.Export(t, provider.config, "wildwest", nil, servertest.CowboySchema())
	consumers := map[string]*workspace{}
	for _, label := range []string{"strict", "lax"} {
		w := newWorkspace(t, provider.server)
		servertest.Bind(t, w.config, provider.path, "wildwest")
		w.createNamespace(t, "team", "rules", label)
		consumers[label] = w
	}
	strict, lax := consumers["strict"], consumers["lax"]
	cowboys := on("wildwest.dev", "v1alpha1", "cowboys")
	ride := func(w *workspace, name string) (*unstructured.Unstructured, error) {
		cowboy := servertest.Cowboy(name)
		cowboy.SetNamespace("team")
		return w.dynamic.Resource(servertest.Cowboys).Namespace("team").Create(t.Context(), cowboy, metav1.CreateOptions{})
	}

	own := validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "a consumer does not decide about this"})
	own.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: append(cowboys.ResourceRules, on("", "v1", "configmaps").ResourceRules...)}
	strict.create(t, own, binding("policy"))
	strict.inForce(t)
	if _, err := ride(strict, "early"); err != nil {
		t.Fatalf("the policy of a consumer is about what it has bound: %v", err)
	}

	limit := validating("policy", admissionregistrationv1.Validation{
		Expression:        "object.metadata.name != params.data.outlaw || namespaceObject.metadata.labels['rules'] != 'strict'",
		MessageExpression: "params.data.outlaw + ' is not welcome'",
	}, admissionregistrationv1.Validation{
		Expression: "authorizer.group('wildwest.dev').resource('cowboys').namespace('team').check('create').allowed()",
		Message:    "the caller is asked about somewhere else",
	})
	limit.Spec.MatchConstraints = cowboys
	limit.Spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	bound := binding("policy")
	bound.Spec.ParamRef = &admissionregistrationv1.ParamRef{
		Name: "outlaws", Namespace: "default", ParameterNotFoundAction: ptr.To(admissionregistrationv1.DenyAction),
	}
	if _, err := provider.createConfigMap(t, "outlaws", "outlaw", "jesse"); err != nil {
		t.Fatal(err)
	}
	for _, w := range consumers {
		if _, err := w.createConfigMap(t, "outlaws", "outlaw", "nobody"); err != nil && w == lax {
			t.Fatal(err)
		}
		w.grant(t, "user-2", "cowboys", grantOf("wildwest.dev", "cowboys", "create"))
	}
	add := applying("policy", `Object{spec: Object.spec{intent: "ride on"}}`)
	add.Spec.MatchConstraints = cowboys
	provider.create(t, limit, bound, add, mutatingBinding("policy"))

	refusal := refused(t, "an outlaw", func() error {
		_, err := ride(strict, "jesse")
		return err
	}, func() error {
		return strict.dynamic.Resource(servertest.Cowboys).Namespace("team").Delete(t.Context(), "jesse", metav1.DeleteOptions{})
	})
	if !strings.Contains(refusal.Message, "jesse is not welcome") {
		t.Errorf("parameters are those of the provider: refused because of %s", refusal.Message)
	}
	created, err := ride(lax, "jesse")
	if err != nil {
		t.Fatalf("the namespace of this consumer is not that strict: %v", err)
	}
	if intent, _, _ := unstructured.NestedString(created.Object, "spec", "intent"); intent != "ride on" {
		t.Errorf("the provider's policy has not changed the object: %v", created.Object["spec"])
	}
	servertest.Eventually(t, "a caller who may do it in the consumer's workspace only", func() (bool, any) {
		_, err := ride(strict.as(t, "user-2-token"), "billy")
		return err == nil, err
	})
}
