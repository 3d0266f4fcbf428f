package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// unwanted and start are what the webhooks of upstream's tests look for.
var (
	unwanted = map[string]string{"webhook-e2e-test": "webhook-disallow"}
	start    = map[string]string{"mutation-start": "yes"}
)

var thingsV1 = schema.GroupVersionResource{Group: "webhooks.test", Version: "v1", Resource: "things"}

// TestUpstream shows what the tests of the same names show in upstream's
// test/e2e/apimachinery/webhook.go. Those run a webhook in a pod and make pods; here the
// webhook is in the test, and built-in objects other than pods stand for them. Attaching
// to a pod, which no workspace has, is in package internal/admission/webhooks.
func TestUpstream(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	answerAsUpstream(t, hooks)
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *workspace)
	}{
		{"should include webhook resources in discovery documents", discovery},
		{"should be able to deny pod and configmap creation", denyCreation},
		{"should be able to deny custom resource creation, update and deletion", denyCustomResources},
		{"should unconditionally reject operations on fail closed webhook", failClosed},
		{"should mutate configmap", mutateConfigMap},
		{"should mutate pod and apply defaults after mutation", mutateAndDefault},
		{"should not be able to mutate or prevent deletion of webhook configuration objects", spareConfigurations},
		{"should mutate custom resource", func(t *testing.T, w *workspace) { mutateCustomResource(t, w, nil) }},
		{"should deny crd creation", denyDefinition},
		{"should mutate custom resource with different stored version", mutateVersions},
		{"should mutate custom resource with pruning", func(t *testing.T, w *workspace) {
			mutateCustomResource(t, w, map[string]apiextensionsv1.JSONSchemaProps{"data": {
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"mutation-start": {Type: "string"}, "mutation-stage-1": {Type: "string"}},
			}})
		}},
		{"should honor timeout", honorTimeout},
		{"patching/updating a validating webhook should work", changeValidating},
		{"patching/updating a mutating webhook should work", changeMutating},
		{"listing validating webhooks should work", listValidating},
		{"listing mutating webhooks should work", listMutating},
		{"should be able to create and update validating webhook configurations with match conditions", conditionsOfValidating},
		{"should be able to create and update mutating webhook configurations with match conditions", conditionsOfMutating},
		{"should reject validating webhook configurations with invalid match conditions", invalidConditionsOfValidating},
		{"should reject mutating webhook configurations with invalid match conditions", invalidConditionsOfMutating},
		{"should mutate everything except 'skip-me' configmaps", skipMe},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, newWorkspace(t, server, hooks)) })
	}
}

// slowness is how long the slow webhook takes, unless nobody waits any more.
const slowness = 2 * time.Second

// answerAsUpstream serves webhooks that answer as those of upstream's tests do.
func answerAsUpstream(t *testing.T, hooks *webhooktest.Server) {
	hooks.Handle("/always-deny", webhooktest.Deny("this webhook denies all requests"))
	hooks.Handle("/slow", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		select {
		case <-time.After(slowness):
		case <-t.Context().Done():
		}
		return &admissionv1.AdmissionResponse{Allowed: true}
	})
	hooks.Handle("/data", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		data, _, _ := unstructured.NestedStringMap(webhooktest.Object(t, r).Object, "data")
		if data["webhook-e2e-test"] == "webhook-disallow" {
			return webhooktest.Deny("the object contains unwanted key and value")(r)
		}
		return webhooktest.Allow(r)
	})
	hooks.Handle("/mutating", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		data, _, _ := unstructured.NestedStringMap(webhooktest.Object(t, r).Object, "data")
		var steps []webhooktest.Operation
		if data["mutation-start"] == "yes" {
			steps = append(steps, webhooktest.Add("/data/mutation-stage-1", "yes"))
		}
		if data["mutation-stage-1"] == "yes" {
			steps = append(steps, webhooktest.Add("/data/mutation-stage-2", "yes"))
		}
		return webhooktest.Patched(steps...)
	})
	hooks.Handle("/add-label", webhooktest.Patch(webhooktest.Add("/metadata/labels", map[string]string{"added-label": "added-value"})))
	hooks.Handle("/definitions", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if webhooktest.Object(t, r).GetLabels()["webhook-e2e-test"] == "webhook-disallow" {
			return webhooktest.Deny("the crd contains unwanted label")(r)
		}
		return webhooktest.Allow(r)
	})
}

func discovery(t *testing.T, w *workspace) {
	groups, err := w.client.Discovery().ServerGroups()
	must(t, err)
	found := false
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			found = found || version.GroupVersion == "admissionregistration.k8s.io/v1"
		}
	}
	if !found {
		t.Error("/apis does not name admissionregistration.k8s.io/v1")
	}
	resources, err := w.client.Discovery().ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	must(t, err)
	names := map[string]bool{}
	for i := range resources.APIResources {
		names[resources.APIResources[i].Name] = true
	}
	if !names["mutatingwebhookconfigurations"] || !names["validatingwebhookconfigurations"] {
		t.Errorf("the group has %v", names)
	}
}

// denied fails the test unless err is the refusal of a webhook with this message.
func denied(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "denied the request") || !strings.Contains(err.Error(), message) {
		t.Errorf("got error %v, want that the request was denied because %q", err, message)
	}
}

func denyCreation(t *testing.T, w *workspace) {
	everything := func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = append(rule("configmaps", admissionregistrationv1.OperationAll), rule("secrets", admissionregistrationv1.Create)...)
		h.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "exempt", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}
	}
	hanging := w.validating("hanging", "/slow", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"webhook-e2e-test": "wait"}}
		h.TimeoutSeconds = ptr.To(int32(1))
	})
	unreachable := w.validating("fail-open", "/nothing", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
		h.ClientConfig.CABundle = nil
	})
	w.registerValidating(t, "deny", w.validating("deny", "/data", everything), hanging, unreachable)

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "unwanted"}, StringData: map[string]string{"a": "b"}}
	if _, err := w.client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Errorf("a webhook that cannot be called and may fail keeps nobody from anything: %v", err)
	}
	_, err := w.create(t, "unwanted", unwanted)
	denied(t, err, "the object contains unwanted key and value")
	slow := configMap("hanging", nil)
	slow.Labels = map[string]string{"webhook-e2e-test": "wait"}
	if _, err = w.client.CoreV1().ConfigMaps("default").Create(t.Context(), slow, metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("a webhook that hangs refuses, got %v", err)
	}

	allowed, err := w.create(t, "allowed", map[string]string{"admit": "this"})
	must(t, err)
	allowed.Data = unwanted
	_, err = w.client.CoreV1().ConfigMaps("default").Update(t.Context(), allowed, metav1.UpdateOptions{})
	denied(t, err, "unwanted")
	_, err = w.client.CoreV1().ConfigMaps("default").Patch(t.Context(), "allowed", types.StrategicMergePatchType,
		[]byte(`{"data":{"webhook-e2e-test":"webhook-disallow"}}`), metav1.PatchOptions{})
	denied(t, err, "unwanted")

	exempt := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "exempt", Labels: map[string]string{"exempt": "true"}}}
	_, err = w.client.CoreV1().Namespaces().Create(t.Context(), exempt, metav1.CreateOptions{})
	must(t, err)
	if _, err := w.client.CoreV1().ConfigMaps("exempt").Create(t.Context(), configMap("unwanted", unwanted), metav1.CreateOptions{}); err != nil {
		t.Errorf("the namespace is not selected: %v", err)
	}
}

func thing(name string, data map[string]string) *unstructured.Unstructured {
	content := map[string]any{}
	for key, value := range data {
		content[key] = value
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "webhooks.test/v1", "kind": "Thing", "metadata": map[string]any{"name": name}, "data": content,
	}}
}

func (w *workspace) things() dynamic.ResourceInterface {
	return w.dynamic.Resource(thingsV1).Namespace("default")
}

func denyCustomResources(t *testing.T, w *workspace) {
	w.define(t, version("v1", true, nil))
	w.registerValidating(t, "deny", w.validating("deny", "/data", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("webhooks.test/v1/things", admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete)
	}))
	_, err := w.things().Create(t.Context(), thing("unwanted", unwanted), metav1.CreateOptions{})
	denied(t, err, "unwanted")

	// Once the object is there, its content is what the webhook looks at when it goes.
	created, err := w.things().Create(t.Context(), thing("blocked", nil), metav1.CreateOptions{})
	must(t, err)
	must(t, unstructured.SetNestedField(created.Object, "webhook-disallow", "data", "webhook-e2e-test"))
	_, err = w.things().Update(t.Context(), created, metav1.UpdateOptions{})
	denied(t, err, "unwanted")

	w.registerValidating(t, "block", w.validating("block", "/always-deny", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("webhooks.test/v1/things", admissionregistrationv1.Delete)
		h.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "blocked", Expression: "!has(oldObject.metadata.labels)"}}
	}))
	denied(t, w.things().Delete(t.Context(), "blocked", metav1.DeleteOptions{}), "denies all requests")
	denied(t, w.things().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}), "denies all requests")
	_, err = w.things().Patch(t.Context(), "blocked", types.MergePatchType, []byte(`{"metadata":{"labels":{"free":"yes"}}}`), metav1.PatchOptions{})
	must(t, err)
	must(t, w.things().Delete(t.Context(), "blocked", metav1.DeleteOptions{}))
}

func failClosed(t *testing.T, w *workspace) {
	w.registerValidating(t, "closed", w.validating("fail-closed", "/data", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.FailurePolicy = ptr.To(admissionregistrationv1.Fail)
		h.ClientConfig.CABundle = nil
	}))
	_, err := w.create(t, "foo", nil)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a webhook that cannot be trusted refuses everything, got %v", err)
	}
}

func mutateConfigMap(t *testing.T, w *workspace) {
	w.registerMutating(t, "mutate", w.mutating("stage-1", "/mutating"), w.mutating("stage-2", "/mutating"))
	created, err := w.create(t, "to-be-mutated", start)
	must(t, err)
	want := map[string]string{"mutation-start": "yes", "mutation-stage-1": "yes", "mutation-stage-2": "yes"}
	if diff := cmp.Diff(want, created.Data); diff != "" {
		t.Errorf("each sees what those before it did (-want +got):\n%s", diff)
	}
}

func mutateAndDefault(t *testing.T, w *workspace) {
	w.hooks.Handle("/subjects", webhooktest.Patch(webhooktest.Add("/subjects", []map[string]string{{"kind": "User", "name": "alice"}})))
	w.registerMutating(t, "mutate", w.mutating("subjects", "/subjects", func(h *admissionregistrationv1.MutatingWebhook) {
		h.Rules = rule("rbac.authorization.k8s.io/v1/rolebindings", admissionregistrationv1.Create)
	}))
	created, err := w.client.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "any"},
	}, metav1.CreateOptions{})
	must(t, err)
	want := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "alice"}}
	if diff := cmp.Diff(want, created.Subjects); diff != "" {
		t.Errorf("the group of the subject is a default (-want +got):\n%s", diff)
	}
}

func spareConfigurations(t *testing.T, w *workspace) {
	configurations := append(rule("admissionregistration.k8s.io/v1/validatingwebhookconfigurations", admissionregistrationv1.OperationAll),
		rule("admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", admissionregistrationv1.OperationAll)...)
	w.registerValidating(t, "deny", w.validating("deny", "/always-deny", func(h *admissionregistrationv1.ValidatingWebhook) { h.Rules = configurations }))
	w.registerMutating(t, "label", w.mutating("label", "/add-label", func(h *admissionregistrationv1.MutatingWebhook) { h.Rules = configurations }))

	validating := w.registerValidating(t, "dummy", w.validating("dummy", "/nothing", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("invalid", admissionregistrationv1.Create)
	}))
	mutating := w.registerMutating(t, "dummy", w.mutating("dummy", "/nothing", func(h *admissionregistrationv1.MutatingWebhook) {
		h.Rules = rule("invalid", admissionregistrationv1.Create)
	}))
	if len(validating.Labels) > 0 || len(mutating.Labels) > 0 {
		t.Errorf("they were changed: %v, %v", validating.Labels, mutating.Labels)
	}
	must(t, w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "dummy", metav1.DeleteOptions{}))
	must(t, w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), "dummy", metav1.DeleteOptions{}))
}

func (w *workspace) mutateThings(t *testing.T) {
	t.Helper()
	things := func(h *admissionregistrationv1.MutatingWebhook) {
		h.Rules = rule("webhooks.test/v1/things", admissionregistrationv1.Create, admissionregistrationv1.Update)
		h.Rules[0].APIVersions = []string{"*"}
	}
	w.registerMutating(t, "mutate", w.mutating("stage-1", "/mutating", things), w.mutating("stage-2", "/mutating", things))
}

func mutateCustomResource(t *testing.T, w *workspace, properties map[string]apiextensionsv1.JSONSchemaProps) {
	w.define(t, version("v1", true, properties))
	w.mutateThings(t)
	created, err := w.things().Create(t.Context(), thing("a", start), metav1.CreateOptions{})
	must(t, err)
	got, _, _ := unstructured.NestedStringMap(created.Object, "data")
	want := map[string]string{"mutation-start": "yes", "mutation-stage-1": "yes"}
	if properties == nil {
		want["mutation-stage-2"] = "yes"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func denyDefinition(t *testing.T, w *workspace) {
	w.registerValidating(t, "deny", w.validating("deny", "/definitions", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("apiextensions.k8s.io/v1/customresourcedefinitions", admissionregistrationv1.Create)
	}))
	crd := definition(version("v1", true, nil))
	crd.Labels = unwanted
	_, err := w.extensions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{})
	denied(t, err, "the crd contains unwanted label")
}

func mutateVersions(t *testing.T, w *workspace) {
	crd := w.define(t, version("v1", true, nil), version("v2", false, nil))
	w.mutateThings(t)
	_, err := w.things().Create(t.Context(), thing("a", start), metav1.CreateOptions{})
	must(t, err)
	_, err = w.extensions.ApiextensionsV1().CustomResourceDefinitions().Patch(t.Context(), crd.Name, types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/spec/versions/0/storage","value":false},{"op":"replace","path":"/spec/versions/1/storage","value":true}]`), metav1.PatchOptions{})
	must(t, err)
	patched, err := w.things().Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"dummy":"test"}}`), metav1.PatchOptions{})
	must(t, err)
	got, _, _ := unstructured.NestedStringMap(patched.Object, "data")
	want := map[string]string{"mutation-start": "yes", "mutation-stage-1": "yes", "mutation-stage-2": "yes", "dummy": "test"}
	if diff := cmp.Diff(want, got); diff != "" || patched.GetAPIVersion() != "webhooks.test/v1" {
		t.Errorf("version %s (-want +got):\n%s", patched.GetAPIVersion(), diff)
	}
}

func honorTimeout(t *testing.T, w *workspace) {
	for name, tc := range map[string]struct {
		reason  string
		timeout *int32
		policy  admissionregistrationv1.FailurePolicyType
		fails   bool
	}{
		"FailEarly": {"the timeout is shorter than the latency of the webhook", ptr.To(int32(1)), admissionregistrationv1.Fail, true},
		"Ignore":    {"whether it answers does not matter", ptr.To(int32(1)), admissionregistrationv1.Ignore, false},
		"Longer":    {"the timeout is longer than the latency", ptr.To(int32(10)), admissionregistrationv1.Fail, false},
		"Default":   {"the timeout is ten seconds if nothing is said", nil, admissionregistrationv1.Fail, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t, w.server, w.hooks)
			w.registerValidating(t, "slow", w.validating("slow", "/slow", func(h *admissionregistrationv1.ValidatingWebhook) {
				h.TimeoutSeconds, h.FailurePolicy = tc.timeout, &tc.policy
			}))
			_, err := w.create(t, "a", nil)
			if tc.fails != (err != nil && strings.Contains(err.Error(), "deadline exceeded")) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// untilCreated waits until the creation of a ConfigMap has the wanted outcome.
func (w *workspace) untilCreated(t *testing.T, data map[string]string, want func(*corev1.ConfigMap, error) bool) {
	t.Helper()
	servertest.Eventually(t, "a change of the configuration to be in force", func() (bool, any) {
		created, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}, Data: data,
		}, metav1.CreateOptions{})
		return want(created, err), fmt.Sprint(created.Data, err)
	})
}

func isDenied(_ *corev1.ConfigMap, err error) bool {
	return err != nil && strings.Contains(err.Error(), "denied")
}
func isAllowed(_ *corev1.ConfigMap, err error) bool { return err == nil }
func isMutated(created *corev1.ConfigMap, err error) bool {
	return err == nil && created.Data["mutation-stage-1"] != ""
}

func isUnmutated(created *corev1.ConfigMap, err error) bool {
	return err == nil && created.Data["mutation-stage-1"] == ""
}

var includeCreate = []byte(`[{"op": "replace", "path": "/webhooks/0/rules/0/operations", "value": ["CREATE"]}]`)

func changeValidating(t *testing.T, w *workspace) {
	hook := w.registerValidating(t, "deny", w.validating("deny", "/data"))
	w.untilCreated(t, unwanted, isDenied)
	hook.Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	all := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := all.Update(t.Context(), hook, metav1.UpdateOptions{})
	must(t, err)
	w.untilCreated(t, unwanted, isAllowed)
	_, err = all.Patch(t.Context(), hook.Name, types.JSONPatchType, includeCreate, metav1.PatchOptions{})
	must(t, err)
	w.untilCreated(t, unwanted, isDenied)
}

func changeMutating(t *testing.T, w *workspace) {
	hook := w.registerMutating(t, "mutate", w.mutating("mutate", "/mutating"))
	w.untilCreated(t, start, isMutated)
	hook.Webhooks[0].Rules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	all := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := all.Update(t.Context(), hook, metav1.UpdateOptions{})
	must(t, err)
	w.untilCreated(t, start, isUnmutated)
	_, err = all.Patch(t.Context(), hook.Name, types.JSONPatchType, includeCreate, metav1.PatchOptions{})
	must(t, err)
	w.untilCreated(t, start, isMutated)
}

const listed = 10

func listValidating(t *testing.T, w *workspace) {
	for i := range listed {
		w.registerValidating(t, fmt.Sprintf("deny-%d", i), w.validating("deny", "/data"))
	}
	all := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	list, err := all.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != listed {
		t.Errorf("got %d configurations", len(list.Items))
	}
	w.untilCreated(t, unwanted, isDenied)
	must(t, all.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.untilCreated(t, unwanted, isAllowed)
}

func listMutating(t *testing.T, w *workspace) {
	for i := range listed {
		w.registerMutating(t, fmt.Sprintf("mutate-%d", i), w.mutating("mutate", "/mutating"))
	}
	all := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	list, err := all.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(list.Items) != listed {
		t.Errorf("got %d configurations", len(list.Items))
	}
	w.untilCreated(t, start, isMutated)
	must(t, all.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.untilCreated(t, start, isUnmutated)
}

var (
	production = admissionregistrationv1.MatchCondition{Name: "expression-1", Expression: "object.metadata.namespace == 'production'"}
	staging    = admissionregistrationv1.MatchCondition{Name: "expression-2", Expression: "object.metadata.namespace == 'staging'"}
	nonsense   = admissionregistrationv1.MatchCondition{Name: "invalid-expression-1", Expression: "... [] bad expression"}
)

func conditionsOfValidating(t *testing.T, w *workspace) {
	hook := w.registerValidating(t, "conditions", w.validating("conditions", "/always-deny", withCondition(production)))
	hook.Webhooks[0].MatchConditions = append(hook.Webhooks[0].MatchConditions, staging)
	all := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := all.Update(t.Context(), hook, metav1.UpdateOptions{})
	must(t, err)
	got, err := all.Get(t.Context(), hook.Name, metav1.GetOptions{})
	must(t, err)
	if diff := cmp.Diff([]admissionregistrationv1.MatchCondition{production, staging}, got.Webhooks[0].MatchConditions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func conditionsOfMutating(t *testing.T, w *workspace) {
	conditional := func(h *admissionregistrationv1.MutatingWebhook) {
		h.MatchConditions = []admissionregistrationv1.MatchCondition{production}
	}
	hook := w.registerMutating(t, "conditions", w.mutating("conditions", "/mutating", conditional))
	hook.Webhooks[0].MatchConditions = append(hook.Webhooks[0].MatchConditions, staging)
	all := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	_, err := all.Update(t.Context(), hook, metav1.UpdateOptions{})
	must(t, err)
	got, err := all.Get(t.Context(), hook.Name, metav1.GetOptions{})
	must(t, err)
	if diff := cmp.Diff([]admissionregistrationv1.MatchCondition{production, staging}, got.Webhooks[0].MatchConditions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func withCondition(condition admissionregistrationv1.MatchCondition) func(*admissionregistrationv1.ValidatingWebhook) {
	return func(h *admissionregistrationv1.ValidatingWebhook) {
		h.MatchConditions = []admissionregistrationv1.MatchCondition{condition}
	}
}

func invalidConditionsOfValidating(t *testing.T, w *workspace) {
	_, err := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "invalid"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{w.validating("invalid", "/always-deny", withCondition(nonsense))},
	}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "compilation failed") {
		t.Errorf("got %v", err)
	}
}

func invalidConditionsOfMutating(t *testing.T, w *workspace) {
	hook := w.mutating("invalid", "/mutating")
	hook.MatchConditions = []admissionregistrationv1.MatchCondition{nonsense}
	_, err := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "invalid"}, Webhooks: []admissionregistrationv1.MutatingWebhook{hook},
	}, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "compilation failed") {
		t.Errorf("got %v", err)
	}
}

func skipMe(t *testing.T, w *workspace) {
	w.registerMutating(t, "mutate", w.mutating("mutate", "/mutating", func(h *admissionregistrationv1.MutatingWebhook) {
		h.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "skip-me", Expression: "object.metadata.name != 'skip-me'"}}
	}))
	mutated, err := w.create(t, "other", start)
	must(t, err)
	skipped, err := w.create(t, "skip-me", start)
	must(t, err)
	if !isMutated(mutated, nil) || isMutated(skipped, nil) {
		t.Errorf("got %v and %v", mutated.Data, skipped.Data)
	}
}
