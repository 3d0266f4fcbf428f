package crd

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
)

var (
	before = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now    = metav1.NewTime(before.Add(time.Hour))
)

type mutation func(*apiextensionsv1.CustomResourceDefinition)

func newCRD(mutations ...mutation) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList",
				ShortNames: []string{"wd"}, Categories: []string{"all"},
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
				},
			}},
		},
	}
	for _, m := range mutations {
		m(crd)
	}
	return crd
}

// isEstablished makes crd one that was established before.
func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status.AcceptedNames = *crd.Spec.Names.DeepCopy()
	crd.Status.StoredVersions = []string{"v1"}
	crd.Status.Conditions = []condition{
		withTime(namesTrue, before), withTime(establishedTrue, before),
	}
}

func withTime(c condition, t metav1.Time) condition {
	c.LastTransitionTime = t
	return c
}

var (
	namesTrue = condition{Type: "NamesAccepted", Status: "True", Reason: "NoConflicts", Message: "no conflicts found"}

	establishedTrue = condition{
		Type: "Established", Status: "True", Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
	establishedFalse = condition{
		Type: "Established", Status: "False", Reason: "NotAccepted", Message: "not all names are accepted",
	}
)

func namesFalse(reason, message string) condition {
	return condition{Type: "NamesAccepted", Status: "False", Reason: reason, Message: message}
}

func TestDecide(t *testing.T) {
	allNames := newCRD().Spec.Names
	without := func(remove func(*apiextensionsv1.CustomResourceDefinitionNames)) apiextensionsv1.CustomResourceDefinitionNames {
		names := *allNames.DeepCopy()
		remove(&names)
		return names
	}
	cases := map[string]struct {
		reason     string
		crd        *apiextensionsv1.CustomResourceDefinition
		inUse      Names
		conditions []condition
		accepted   apiextensionsv1.CustomResourceDefinitionNames
	}{
		"New": {
			reason:     "a definition without conflicts is established by the first status",
			crd:        newCRD(),
			inUse:      NewNames(),
			conditions: []condition{withTime(namesTrue, now), withTime(establishedTrue, now)},
			accepted:   allNames,
		},
		"Settled": {
			reason:     "nothing changes where nothing has to, times included",
			crd:        newCRD(isEstablished),
			inUse:      NewNames(),
			conditions: []condition{withTime(namesTrue, before), withTime(establishedTrue, before)},
			accepted:   allNames,
		},
		"PluralInUse": {
			reason:     "a plural may be anybody's short name",
			crd:        newCRD(),
			inUse:      NewNames(apiextensionsv1.CustomResourceDefinitionNames{ShortNames: []string{"widgets"}}),
			conditions: []condition{withTime(namesFalse("PluralConflict", `"widgets" is already in use`), now), withTime(establishedFalse, now)},
			accepted:   without(func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Plural = "" }),
		},
		"KindInUse": {
			reason:     "the names without conflict are accepted all the same",
			crd:        newCRD(),
			inUse:      NewNames(apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget"}),
			conditions: []condition{withTime(namesFalse("KindConflict", `"Widget" is already in use`), now), withTime(establishedFalse, now)},
			accepted:   without(func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind = "" }),
		},
		"ShortNameInUseLater": {
			reason: "an established definition that asks for a taken name keeps what it has and stays established",
			crd: newCRD(isEstablished, func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Names.ShortNames = []string{"wd", "w"}
			}),
			inUse:      NewNames(apiextensionsv1.CustomResourceDefinitionNames{ShortNames: []string{"w"}}),
			conditions: []condition{withTime(namesFalse("ShortNamesConflict", `"w" is already in use`), now), withTime(establishedTrue, before)},
			accepted:   allNames,
		},
		"ConflictGone": {
			reason: "a name that has become free is taken",
			crd: newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Status.AcceptedNames = without(func(n *apiextensionsv1.CustomResourceDefinitionNames) { n.Kind = "" })
				crd.Status.Conditions = []condition{withTime(namesFalse("KindConflict", "x"), before), withTime(establishedFalse, before)}
			}),
			inUse:      NewNames(),
			conditions: []condition{withTime(namesTrue, now), withTime(establishedTrue, now)},
			accepted:   allNames,
		},
		"OwnNames": {
			reason: "accepted names do not conflict with themselves, though somebody else has come to use one",
			crd:    newCRD(isEstablished),
			inUse:  NewNames(apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget"}),
			conditions: []condition{
				withTime(namesTrue, before), withTime(establishedTrue, before),
			},
			accepted: allNames,
		},
		"NonStructural": {
			reason: "what is not structural is said, and does not keep a definition from being established",
			crd: newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.PreserveUnknownFields = true
			}),
			inUse: NewNames(),
			conditions: []condition{
				{
					Type: "NonStructuralSchema", Status: "True", Reason: "Violations", LastTransitionTime: now,
					Message: "spec.preserveUnknownFields: Invalid value: true: must be false",
				},
				withTime(namesTrue, now), withTime(establishedTrue, now),
			},
			accepted: allNames,
		},
		"StructuralAgain": {
			reason: "the condition goes with its cause",
			crd: newCRD(isEstablished, func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Status.Conditions = append(crd.Status.Conditions, condition{Type: "NonStructuralSchema", Status: "True"})
			}),
			inUse:      NewNames(),
			conditions: []condition{withTime(namesTrue, before), withTime(establishedTrue, before)},
			accepted:   allNames,
		},
		"ProtectedGroup": {
			reason: "groups of the community want an approval",
			crd: newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Group = "example.k8s.io"
				crd.Annotations = map[string]string{"api-approved.kubernetes.io": "https://example.com/approval"}
			}),
			inUse: NewNames(),
			conditions: []condition{
				{
					Type: "KubernetesAPIApprovalPolicyConformant", Status: "True", Reason: "ApprovedAnnotation",
					Message: "approved in https://example.com/approval", LastTransitionTime: now,
				},
				withTime(namesTrue, now), withTime(establishedTrue, now),
			},
			accepted: allNames,
		},
		"InvalidCABundle": {
			reason: "a conversion webhook nobody can trust keeps a definition from being established",
			crd: newCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
					Strategy: apiextensionsv1.WebhookConverter,
					Webhook: &apiextensionsv1.WebhookConversion{
						ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: []byte("nonsense")},
					},
				}
			}),
			inUse: NewNames(),
			conditions: []condition{
				withTime(namesTrue, now),
				{
					Type: "Established", Status: "False", Reason: "InvalidCABundle",
					Message: "The conversion webhook CABundle is invalid", LastTransitionTime: now,
				},
			},
			accepted: allNames,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			untouched := tc.crd.DeepCopy()
			got := Decide(Input{CRD: tc.crd, InUse: tc.inUse, Now: now})
			want := apiextensionsv1.CustomResourceDefinitionStatus{
				Conditions: tc.conditions, AcceptedNames: tc.accepted, StoredVersions: []string{"v1"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(untouched, tc.crd); diff != "" {
				t.Errorf("the input is changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDecideTermination(t *testing.T) {
	cases := map[string]struct {
		reason  string
		in      Termination
		status  apiextensionsv1.ConditionStatus
		because string
		message string
		done    bool
	}{
		"NeverEstablished": {
			reason: "without having been served there are no instances",
			in:     Termination{CRD: newCRD()},
			status: "False", because: "NeverEstablished", message: "resource was never established", done: true,
		},
		"NoneLeft": {
			reason: "the last instance gone, nothing keeps the definition",
			in:     Termination{CRD: newCRD(isEstablished)},
			status: "False", because: "InstanceDeletionCompleted", message: "removed all instances", done: true,
		},
		"Waiting": {
			reason: "who waits says for what, in an order that does not change",
			in: Termination{CRD: newCRD(isEstablished), Remaining: []catalog.Instance{
				{Name: "d"}, {Name: "c"}, {Namespace: "x", Name: "b", Finalizers: []string{"f1", "f2"}}, {Name: "a"},
			}},
			status: "True", because: "InstanceDeletionInProgress",
			message: "CustomResource deletion is in progress, remaining: a; c; d and 1 more",
		},
		"WaitingForFinalizers": {
			reason: "finalizers are named, they are what is waited for",
			in: Termination{CRD: newCRD(isEstablished), Remaining: []catalog.Instance{
				{Namespace: "x", Name: "b", Finalizers: []string{"f1", "f2"}},
			}},
			status: "True", because: "InstanceDeletionInProgress",
			message: "CustomResource deletion is in progress, remaining: x/b has finalizers f1, f2",
		},
		"Failed": {
			reason: "an error is not taken for an empty list",
			in:     Termination{CRD: newCRD(isEstablished), Err: errBroken},
			status: "True", because: "InstanceDeletionFailed", message: "could not delete all instances: broken",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.Now = now
			status, done := DecideTermination(tc.in)
			got := status.Conditions[len(status.Conditions)-1]
			want := condition{Type: "Terminating", Status: tc.status, Reason: tc.because, Message: tc.message, LastTransitionTime: now}
			if diff := cmp.Diff(want, got); diff != "" || done != tc.done {
				t.Errorf("%s: done = %t, want %t (-want +got):\n%s", tc.reason, done, tc.done, diff)
			}
		})
	}
}
