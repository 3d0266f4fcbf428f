package policies

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// validate: expressions decide, and say why; other resources are none of a policy's
// business.
func validate(t *testing.T, w *workspace) {
	w.create(t, validating("policy",
		admissionregistrationv1.Validation{
			Expression:        "int(object.data.replicas) > 1",
			MessageExpression: "'wants replicas > 1, got ' + object.data.replicas",
		},
		admissionregistrationv1.Validation{
			Expression: "namespaceObject.metadata.name == 'default'",
			Message:    "other namespaces are not allowed",
		},
	), binding("policy"))
	refusal := w.inForce(t, "replicas", "1")
	want := `configmaps "marker" is forbidden: ValidatingAdmissionPolicy 'policy' with binding 'policy' denied request: wants replicas > 1, got 1`
	if refusal.Message != want || refusal.Reason != metav1.StatusReasonInvalid || refusal.Code != 422 {
		t.Errorf("refused with %d %s: %s", refusal.Code, refusal.Reason, refusal.Message)
	}
	if _, err := w.createConfigMap(t, "replicated", "replicas", "2"); err != nil {
		t.Error(err)
	}
	secret := secret("unreplicated")
	if _, err := w.kube.CoreV1().Secrets(metav1.NamespaceDefault).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Errorf("a policy on config maps is asked about a secret: %v", err)
	}
	w.createNamespace(t, "other")
	_, err := w.kube.CoreV1().ConfigMaps("other").Create(t.Context(), configMap("replicated", "replicas", "2"), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("in the other namespace: %v", err)
	}
}

// variables: expressions refer to variables, which refer to each other.
func variables(t *testing.T, w *workspace) {
	policy := validating("policy",
		admissionregistrationv1.Validation{Expression: "variables.replicas > 1"},
		admissionregistrationv1.Validation{Expression: "variables.oddReplicas"},
	)
	policy.Spec.Variables = []admissionregistrationv1.Variable{
		{Name: "replicas", Expression: "int(object.data.replicas)"},
		{Name: "oddReplicas", Expression: "variables.replicas % 2 == 1"},
	}
	w.create(t, policy, binding("policy"))
	w.inForce(t, "replicas", "1")
	if _, err := w.createConfigMap(t, "odd", "replicas", "3"); err != nil {
		t.Error(err)
	}
	_, err := w.createConfigMap(t, "even", "replicas", "4")
	if !apierrors.IsInvalid(err) {
		t.Errorf("an even number: %v", err)
	}
}
