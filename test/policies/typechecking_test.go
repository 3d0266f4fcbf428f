package policies

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/forkless/kcp/internal/servertest"
)

// typeChecked waits until a policy has been type-checked in its present generation, and
// returns the warnings.
func (w *workspace) typeChecked(t testing.TB, name string) []admissionregistrationv1.ExpressionWarning {
	t.Helper()
	var policy *admissionregistrationv1.ValidatingAdmissionPolicy
	servertest.Eventually(t, "policy "+name+" is type-checked", func() (bool, any) {
		var err error
		if policy, err = w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return policy.Status.TypeChecking != nil && policy.Status.ObservedGeneration == policy.Generation, policy.Status
	})
	return policy.Status.TypeChecking.ExpressionWarnings
}

// typeCheckingCase is a policy and what the type check says of it.
type typeCheckingCase struct {
	reason      string
	matches     *admissionregistrationv1.MatchResources
	params      *admissionregistrationv1.ParamKind
	validations []admissionregistrationv1.Validation
	variables   []admissionregistrationv1.Variable
	// want are field and part of each warning.
	want [][2]string
}

func (c typeCheckingCase) run(t *testing.T, w *workspace, name string) {
	policy := validating(name, c.validations...)
	policy.Spec.MatchConstraints, policy.Spec.ParamKind, policy.Spec.Variables = c.matches, c.params, c.variables
	w.create(t, policy)
	got := w.typeChecked(t, name)
	if len(got) != len(c.want) {
		t.Fatalf("%s: %d warnings instead of %d: %+v", c.reason, len(got), len(c.want), got)
	}
	for i, want := range c.want {
		if got[i].FieldRef != want[0] || !strings.Contains(got[i].Warning, want[1]) {
			t.Errorf("%s: warning %d is\n%+v\nwanted %s: %s", c.reason, i, got[i], want[0], want[1])
		}
	}
}

// typeChecking: the status says which expressions do not fit the types of the workspace.
func typeChecking(t *testing.T, w *workspace) {
	w.define(t, crontabs("stable.example.com"))
	crontab := on("stable.example.com", "v1", "crontabs")
	for name, c := range map[string]typeCheckingCase{
		"correct": {
			reason: "an expression that fits warns of nothing", matches: on("", "v1", "resourcequotas"),
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.scopes.size() < 2 && object.metadata.name != ''"}},
		},
		"confused": {
			reason: "the warnings are upstream's", matches: on("coordination.k8s.io", "v1", "leases"),
			validations: []admissionregistrationv1.Validation{{
				Expression:        "object.spec.leaseTransitions > '1'",
				MessageExpression: "'wants less, got ' + object.spec.leaseTransitions",
			}},
			want: [][2]string{
				{"spec.validations[0].expression", "coordination.k8s.io/v1, Kind=Lease: ERROR: <input>:1:30: found no matching overload for '_>_' applied to '(int, string)'"},
				{"spec.validations[0].messageExpression", "found no matching overload for '_+_' applied to '(string, int)'"},
			},
		},
		"definition-correct": {
			reason: "definitions of the workspace are known", matches: crontab,
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.replicas > 1 && object.metadata.labels.size() > 0"}},
		},
		"definition-confused": {
			reason: "definitions of the workspace are checked as built-in kinds are", matches: crontab,
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.replicas > '1'"}, {Expression: "object.spec.maxRetries < 10"}},
			want: [][2]string{
				{"spec.validations[0].expression", "found no matching overload for '_>_' applied to '(int, string)'"},
				{"spec.validations[1].expression", "undefined field 'maxRetries'"},
			},
		},
		"params": {
			reason: "parameters have types, too", matches: crontab,
			params:      &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.replicas < params.data.most"}, {Expression: "params.spec != ''"}},
			want: [][2]string{
				{"spec.validations[0].expression", "found no matching overload for '_<_' applied to '(int, string)'"},
				{"spec.validations[1].expression", "undefined field 'spec'"},
			},
		},
		"variables": {
			reason: "the type of a variable is that of its expression", matches: crontab,
			variables:   []admissionregistrationv1.Variable{{Name: "replicas", Expression: "object.spec.replicas"}},
			validations: []admissionregistrationv1.Validation{{Expression: "variables.replicas == 'many'"}},
			want:        [][2]string{{"spec.validations[0].expression", "found no matching overload for '_==_' applied to '(int, string)'"}},
		},
		"unknown": {
			reason: "what is not served has no types", matches: on("apps", "v1", "deployments"),
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.replicas > '1'"}},
		},
		"own": {
			reason: "our own kinds have types as well", matches: on("tenancy.kcp.io", "v1alpha1", "workspaces"),
			validations: []admissionregistrationv1.Validation{{Expression: "object.spec.type.name > 1"}},
			want:        [][2]string{{"spec.validations[0].expression", "found no matching overload for '_>_' applied to '(string, int)'"}},
		},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, w, name) })
	}
	t.Run("Again", func(t *testing.T) {
		policies := w.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			policy, err := policies.Get(t.Context(), "confused", metav1.GetOptions{})
			if err != nil {
				return err
			}
			policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "object.spec.leaseTransitions > 1"}}
			_, err = policies.Update(t.Context(), policy, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if warnings := w.typeChecked(t, "confused"); len(warnings) > 0 {
			t.Errorf("the warnings are still those of the generation before: %+v", warnings)
		}
	})
}

// typesOfOthers: a definition of another workspace is not known.
func typesOfOthers(t *testing.T, w *workspace) {
	newWorkspace(t, w.server).define(t, crontabs("stable.example.com"))
	typeCheckingCase{
		reason: "the definition is that of another workspace", matches: on("stable.example.com", "v1", "crontabs"),
		validations: []admissionregistrationv1.Validation{{Expression: "object.spec.replicas > '1'"}},
	}.run(t, w, "policy")
}
