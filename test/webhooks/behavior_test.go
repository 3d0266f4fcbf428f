package webhooks

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// TestBehavior is about what upstream promises of webhooks beyond its own tests of them.
func TestBehavior(t *testing.T) {
	server, hooks := servertest.Start(t, servertest.WithUsers(t)), webhooktest.Start(t)
	for name, run := range map[string]func(*testing.T, *workspace){
		"Order":             order,
		"Reinvocation":      reinvocation,
		"MatchPolicy":       matchPolicy,
		"Namespaces":        namespaces,
		"DryRun":            dryRun,
		"OldReviews":        oldReviews,
		"Warnings":          warnings,
		"BadAnswers":        badAnswers,
		"Status":            statusSubresource,
		"Tokens":            tokens,
		"Deletion":          deletion,
		"Callers":           callers,
		"ClusterAnnotation": clusterAnnotation,
		"Services":          services,
		"OwnAPIs":           ownAPIs,
	} {
		t.Run(name, func(t *testing.T) {
			// Paths are the server's; each test has a workspace for itself.
			run(t, newWorkspace(t, server, hooks))
		})
	}
}

// appending is a webhook that appends its name to a key of a ConfigMap.
func appending(t *testing.T, name string) webhooktest.Answer {
	return func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		before, _, _ := unstructured.NestedString(webhooktest.Object(t, r).Object, "data", "order")
		return webhooktest.Patched(webhooktest.Add("/data", map[string]string{"order": before + name}))
	}
}

func order(t *testing.T, w *workspace) {
	for _, name := range []string{"a", "b", "c"} {
		w.hooks.Handle("/order/"+name, appending(t, name))
	}
	w.registerMutating(t, "second", w.mutating("c", "/order/c"), w.mutating("a", "/order/a"))
	w.registerMutating(t, "first", w.mutating("b", "/order/b"))
	created, err := w.create(t, "x", map[string]string{"order": ""})
	must(t, err)
	if got := created.Data["order"]; got != "bca" {
		t.Errorf("configurations come by name, their webhooks as they are listed: got %q, want bca", got)
	}
}

func reinvocation(t *testing.T, w *workspace) {
	w.hooks.Handle("/reinvocation/never", appending(t, "n"))
	w.hooks.Handle("/reinvocation/needed", appending(t, "i"))
	w.hooks.Handle("/reinvocation/last", appending(t, "l"))
	w.registerMutating(t, "reinvocation",
		w.mutating("never", "/reinvocation/never"),
		w.mutating("needed", "/reinvocation/needed", func(h *admissionregistrationv1.MutatingWebhook) {
			h.ReinvocationPolicy = ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy)
		}),
		w.mutating("last", "/reinvocation/last"))
	created, err := w.create(t, "x", map[string]string{"order": ""})
	must(t, err)
	if got := created.Data["order"]; got != "nili" {
		t.Errorf("who wants to be asked again after a change is, once: got %q, want nili", got)
	}
}

func matchPolicy(t *testing.T, w *workspace) {
	w.define(t, version("v1", true, nil), version("v2", false, nil))
	w.hooks.Handle("/match/exact", webhooktest.Patch(webhooktest.Add("/exact", "yes")))
	w.hooks.Handle("/match/equivalent", webhooktest.Patch(webhooktest.Add("/equivalent", "yes")))
	w.hooks.Handle("/match/validating", webhooktest.Allow)
	things := rule("webhooks.test/v1/things", admissionregistrationv1.Create)
	w.registerMutating(t, "match",
		w.mutating("exact", "/match/exact", func(h *admissionregistrationv1.MutatingWebhook) {
			h.Rules, h.MatchPolicy = things, ptr.To(admissionregistrationv1.Exact)
		}),
		w.mutating("equivalent", "/match/equivalent", func(h *admissionregistrationv1.MutatingWebhook) { h.Rules = things }))
	w.registerValidating(t, "match", w.validating("match", "/match/validating", func(h *admissionregistrationv1.ValidatingWebhook) { h.Rules = things }))

	obj := thing("a", nil)
	obj.SetAPIVersion("webhooks.test/v2")
	created, err := w.dynamic.Resource(thingsV1.GroupResource().WithVersion("v2")).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{})
	must(t, err)
	if created.Object["exact"] != nil || created.Object["equivalent"] != "yes" || created.GetAPIVersion() != "webhooks.test/v2" {
		t.Errorf("only the equivalent rule matches another version, got %v", created.Object)
	}
	for _, path := range []string{"/match/equivalent", "/match/validating"} {
		reviews := w.hooks.Reviews(path)
		if len(reviews) != 1 {
			t.Fatalf("%s was asked %d times", path, len(reviews))
		}
		r := reviews[0].Request
		if r.Resource.Version != "v1" || r.RequestResource.Version != "v2" || r.RequestKind.Version != "v2" || webhooktest.Object(t, r).GetAPIVersion() != "webhooks.test/v1" {
			t.Errorf("%s is asked in the version of its rule, got %s and %s", path, r.Resource, webhooktest.Object(t, r).GetAPIVersion())
		}
	}
}

func namespaces(t *testing.T, w *workspace) {
	w.hooks.Handle("/namespaces", webhooktest.Deny("no"))
	w.registerValidating(t, "namespaces", w.validating("namespaces", "/namespaces", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = append(h.Rules, rule("namespaces", admissionregistrationv1.Create, admissionregistrationv1.Update)...)
		h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}
	}))
	create := func(name string, labels map[string]string) error {
		_, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		return err
	}
	denied(t, create("guarded", map[string]string{"guarded": "yes"}), "no")
	must(t, create("free", nil))
	if _, err := w.client.CoreV1().ConfigMaps("free").Create(t.Context(), configMap("a", nil), metav1.CreateOptions{}); err != nil {
		t.Errorf("the namespace is not selected: %v", err)
	}
	_, err := w.client.CoreV1().Namespaces().Patch(t.Context(), "free", types.MergePatchType, []byte(`{"metadata":{"labels":{"guarded":"yes"}}}`), metav1.PatchOptions{})
	denied(t, err, "no")
}

func dryRun(t *testing.T, w *workspace) {
	w.hooks.Handle("/dry", webhooktest.Patch(webhooktest.Add("/data", map[string]string{"a": "b"})))
	w.registerMutating(t, "dry", w.mutating("dry", "/dry", func(h *admissionregistrationv1.MutatingWebhook) {
		h.SideEffects = ptr.To(admissionregistrationv1.SideEffectClassNoneOnDryRun)
	}))
	created, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	must(t, err)
	if created.Data["a"] != "b" {
		t.Errorf("a dry run shows what webhooks do, got %v", created.Data)
	}
	if reviews := w.hooks.Reviews("/dry"); len(reviews) != 1 || !*reviews[0].Request.DryRun {
		t.Error("the webhook was not told that it is one")
	}
	_, err = w.client.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("it was stored: %v", err)
	}
}

func oldReviews(t *testing.T, w *workspace) {
	w.hooks.Handle("/old", webhooktest.Patch(webhooktest.Add("/data", map[string]string{"a": "b"})))
	w.registerMutating(t, "old", w.mutating("old", "/old", func(h *admissionregistrationv1.MutatingWebhook) {
		h.AdmissionReviewVersions = []string{"v1beta1"}
	}))
	created, err := w.create(t, "a", nil)
	must(t, err)
	if reviews := w.hooks.Reviews("/old"); created.Data["a"] != "b" || reviews[0].APIVersion != "admission.k8s.io/v1beta1" {
		t.Errorf("got %v after a review in %s", created.Data, reviews[0].APIVersion)
	}
}

// recorded are the warnings that a client was given.
type recorded []string

// HandleWarningHeader keeps a warning.
func (r *recorded) HandleWarningHeader(_ int, _, text string) { *r = append(*r, text) }

func warnings(t *testing.T, w *workspace) {
	w.hooks.Handle("/warn", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"mind the gap"}}
	})
	w.registerValidating(t, "warn", w.validating("warn", "/warn"))
	var got recorded
	config := rest.CopyConfig(w.config)
	config.WarningHandler = &got
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	must(t, err)
	if !slices.Equal(got, []string{"mind the gap"}) {
		t.Errorf("got warnings %q", got)
	}
}

func badAnswers(t *testing.T, w *workspace) {
	patchType := ptr.To(admissionv1.PatchTypeJSONPatch)
	answers := map[string]struct {
		reason string
		answer http.HandlerFunc
		want   string
	}{
		"Status":    {"an HTTP error is no answer", func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "broken", http.StatusTeapot) }, "failed calling webhook"},
		"Nonsense":  {"what is no JSON is no answer", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("yes")) }, "failed calling webhook"},
		"OtherUID":  {"an answer to another question is none", respond(admissionv1.AdmissionResponse{UID: "other", Allowed: true}), "expected response.uid"},
		"NoPatch":   {"a patch has a type", respond(admissionv1.AdmissionResponse{Allowed: true, Patch: []byte("[]")}), "patchType"},
		"NotAPatch": {"a patch is a list of steps", respond(admissionv1.AdmissionResponse{Allowed: true, Patch: []byte("{}"), PatchType: patchType}), "undecodable patch"},
		"TooLarge": {"memory is for all workspaces", func(rw http.ResponseWriter, _ *http.Request) {
			chunk := make([]byte, 1<<20)
			for i := range chunk {
				chunk[i] = ' '
			}
			for range 16 {
				_, _ = rw.Write(chunk)
			}
		}, "too large"},
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		t.Run(name, func(t *testing.T) {
			tc := answers[name]
			path := "/bad/" + name
			w.hooks.HandleRaw(path, tc.answer)
			hook := w.registerMutating(t, "bad", w.mutating("bad", path))
			_, err := w.create(t, strings.ToLower(name), nil)
			if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			hook.Webhooks[0].FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
			configurations := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
			_, err = configurations.Update(t.Context(), hook, metav1.UpdateOptions{})
			must(t, err)
			w.untilCreated(t, nil, isAllowed)
			must(t, configurations.Delete(t.Context(), hook.Name, metav1.DeleteOptions{}))
		})
	}
}

// respond answers every review with response. Its UID is that of the review, unless it
// has one.
func respond(response admissionv1.AdmissionResponse) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := response
		if answer.UID == "" {
			answer.UID = review.Request.UID
		}
		review.Request, review.Response = nil, &answer
		_ = json.NewEncoder(w).Encode(review)
	}
}

func statusSubresource(t *testing.T, w *workspace) {
	w.define(t, version("v1", true, nil))
	w.hooks.Handle("/status", webhooktest.Patch(webhooktest.Add("/status/seen", "yes")))
	w.registerMutating(t, "status", w.mutating("status", "/status", func(h *admissionregistrationv1.MutatingWebhook) {
		h.Rules = rule("webhooks.test/v1/things/status", admissionregistrationv1.Update)
	}))
	_, err := w.things().Create(t.Context(), thing("a", nil), metav1.CreateOptions{})
	must(t, err)
	patched, err := w.things().Patch(t.Context(), "a", types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	if seen, _, _ := unstructured.NestedString(patched.Object, "status", "seen"); seen != "yes" {
		t.Errorf("got %v", patched.Object["status"])
	}
	if reviews := w.hooks.Reviews("/status"); len(reviews) != 1 || reviews[0].Request.SubResource != "status" {
		t.Errorf("the webhook was asked %d times, for the status only once", len(reviews))
	}
}

func tokens(t *testing.T, w *workspace) {
	w.hooks.Handle("/tokens", webhooktest.Deny("no tokens"))
	w.registerValidating(t, "tokens", w.validating("tokens", "/tokens", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("serviceaccounts/token", admissionregistrationv1.Create)
	}))
	accounts := w.client.CoreV1().ServiceAccounts("default")
	_, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = accounts.CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	denied(t, err, "no tokens")
	if reviews := w.hooks.Reviews("/tokens"); len(reviews) != 1 || reviews[0].Request.Kind.Kind != "TokenRequest" || reviews[0].Request.Name != "robot" {
		t.Errorf("got reviews %v", reviews)
	}
}

func deletion(t *testing.T, w *workspace) {
	w.hooks.Handle("/deletion", webhooktest.Allow)
	w.hooks.Handle("/deletion/change", webhooktest.Patch(webhooktest.Add("/data", map[string]string{})))
	_, err := w.create(t, "a", map[string]string{"was": "here"})
	must(t, err)
	_, err = w.create(t, "b", nil)
	must(t, err)
	w.registerValidating(t, "deletion", w.validating("deletion", "/deletion", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("configmaps", admissionregistrationv1.Delete)
	}))
	configMaps := w.client.CoreV1().ConfigMaps("default")
	must(t, configMaps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	reviews := w.hooks.Reviews("/deletion")
	if len(reviews) != 1 || len(reviews[0].Request.Object.Raw) > 0 {
		t.Fatalf("got reviews %v", reviews)
	}
	old := webhooktest.Object(t, reviews[0].Request)
	if old.GetName() != "a" || old.GetAnnotations()[logicalcluster.AnnotationKey] != w.name {
		t.Errorf("what is deleted is shown as it was, got %v", old)
	}
	must(t, configMaps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=b"}))
	if reviews := w.hooks.Reviews("/deletion"); len(reviews) < 2 || webhooktest.Object(t, reviews[len(reviews)-1].Request).GetName() != "b" {
		t.Errorf("each object of a collection is asked for, got %d reviews", len(reviews))
	}

	_, err = w.create(t, "c", nil)
	must(t, err)
	w.registerMutating(t, "deletion", w.mutating("deletion", "/deletion/change", func(h *admissionregistrationv1.MutatingWebhook) {
		h.Rules = rule("configmaps", admissionregistrationv1.Delete)
	}))
	if err := configMaps.Delete(t.Context(), "c", metav1.DeleteOptions{}); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "not supported for this operation") {
		t.Errorf("there is nothing to change in a deletion, got %v", err)
	}
}

func callers(t *testing.T, w *workspace) {
	_, err := w.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "configmaps"},
		Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"access"}, NonResourceURLs: []string{"/"}},
			{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	_, err = w.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "user"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "configmaps"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "user-1"}},
	}, metav1.CreateOptions{})
	must(t, err)
	w.hooks.Handle("/callers", webhooktest.Allow)
	w.hooks.Handle("/callers/other", webhooktest.Deny("no"))
	may := func(resource string) func(*admissionregistrationv1.ValidatingWebhook) {
		return withCondition(admissionregistrationv1.MatchCondition{
			Name: "may", Expression: `authorizer.group("").resource("` + resource + `").check("create").allowed()`,
		})
	}
	w.registerValidating(t, "callers", w.validating("may", "/callers", may("configmaps")), w.validating("may-not", "/callers/other", may("secrets")))
	client, err := kubernetes.NewForConfig(w.server.As(t, "user-1-token", w.name))
	must(t, err)
	servertest.Eventually(t, "the user to be let in", func() (bool, any) {
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
		return err == nil, err
	})
	reviews := w.hooks.Reviews("/callers")
	if len(reviews) != 1 {
		t.Fatalf("the webhook was asked %d times; its condition is true in this workspace", len(reviews))
	}
	caller := reviews[0].Request.UserInfo
	if caller.Username != "user-1" || !slices.Contains(caller.Groups, "team-1") || caller.UID != "1111-1" {
		t.Errorf("got %v", caller)
	}
}

func clusterAnnotation(t *testing.T, w *workspace) {
	w.hooks.Handle("/annotation", webhooktest.Patch(
		webhooktest.Add("/metadata/annotations/kcp.io~1cluster", "elsewhere"), webhooktest.Add("/metadata/annotations/seen", "yes")))
	w.registerMutating(t, "annotation", w.mutating("annotation", "/annotation"))
	created, err := w.create(t, "a", nil)
	must(t, err)
	reviews := w.hooks.Reviews("/annotation")
	if got := webhooktest.Object(t, reviews[0].Request).GetAnnotations(); got[logicalcluster.AnnotationKey] != w.name {
		t.Errorf("the webhook is told where the object is, got %v", got)
	}
	if diff := cmp.Diff(map[string]string{logicalcluster.AnnotationKey: w.name, "seen": "yes"}, created.Annotations); diff != "" {
		t.Errorf("an object stays where it is (-want +got):\n%s", diff)
	}
	for _, entry := range created.ManagedFields {
		if strings.Contains(string(entry.FieldsV1.Raw), logicalcluster.AnnotationKey) {
			t.Errorf("%s owns the annotation", entry.Manager)
		}
	}
}

func services(t *testing.T, w *workspace) {
	w.registerValidating(t, "service", w.validating("service", "", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.ClientConfig = admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: "nowhere", Name: "hook", Path: ptr.To("/x")}, CABundle: w.hooks.CABundle(),
		}
		h.TimeoutSeconds = ptr.To(int32(5))
	}))
	_, err := w.create(t, "a", nil)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "hook.nowhere.svc:443/x") {
		t.Errorf("a service is asked for in DNS, got %v", err)
	}
}

// ownAPIs: what every workspace has is like other objects for its webhooks. Workspaces are
// bound from root, and for bound APIs the webhooks of who exports them count.
func ownAPIs(t *testing.T, w *workspace) {
	w.hooks.Handle("/own", webhooktest.Deny("no more of these"))
	w.registerValidating(t, "own", w.validating("own", "/own", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = append(rule("tenancy.kcp.io/v1alpha1/workspaces", admissionregistrationv1.Create),
			rule("apis.kcp.io/v1alpha2/apiexports", admissionregistrationv1.Create)...)
	}))
	create := func(gvr schema.GroupVersionResource, kind string) error {
		_, err := w.dynamic.Resource(gvr).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gvr.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": "child"},
		}}, metav1.CreateOptions{})
		return err
	}
	denied(t, create(apisv1alpha2.GroupVersion.WithResource("apiexports"), "APIExport"), "no more of these")
	if err := create(tenancyv1alpha1.GroupVersion.WithResource("workspaces"), "Workspace"); err != nil {
		t.Errorf("creating a workspace: %v", err)
	}
}
