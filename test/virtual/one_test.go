package virtual

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// one is what a provider does in one of its consumers, with its own resource.
var one = map[string]behavior{
	"Verbs": {
		reason: "all verbs work on exported objects, subresources included",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, providing, s.first).Resource(cowboys).Namespace("default")
			ctx := t.Context()
			created, err := client.Create(ctx, cowboy("all-verbs", "ride"), metav1.CreateOptions{})
			must(t, err)
			if created.GetAnnotations()["kcp.io/cluster"] != s.first.name {
				t.Errorf("annotations: %v", created.GetAnnotations())
			}
			_ = unstructured.SetNestedField(created.Object, "walk", "spec", "intent")
			updated, err := client.Update(ctx, created, metav1.UpdateOptions{})
			must(t, err)
			_ = unstructured.SetNestedField(updated.Object, "done", "status", "result")
			_, err = client.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
			must(t, err)
			_, err = client.Patch(ctx, "all-verbs", types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`), metav1.PatchOptions{})
			must(t, err)
			_, err = client.Apply(ctx, "all-verbs", &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "wildwest.dev/v1", "kind": "Cowboy", "metadata": map[string]any{"name": "all-verbs"}, "spec": map[string]any{"replicas": int64(3)},
			}}, metav1.ApplyOptions{FieldManager: "provider"})
			must(t, err)
			scale, err := client.Get(ctx, "all-verbs", metav1.GetOptions{}, "scale")
			must(t, err)
			if replicas, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas"); replicas != 3 {
				t.Errorf("scale: %v", scale.Object)
			}
			_, err = client.Patch(ctx, "all-verbs", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}, "scale")
			must(t, err)
			got, err := s.admin(t, s.first).Resource(cowboys).Namespace("default").Get(ctx, "all-verbs", metav1.GetOptions{})
			must(t, err)
			intent, _, _ := unstructured.NestedString(got.Object, "spec", "intent")
			replicas, _, _ := unstructured.NestedInt64(got.Object, "spec", "replicas")
			result, _, _ := unstructured.NestedString(got.Object, "status", "result")
			if intent != "walk" || replicas != 5 || result != "done" || got.GetLabels()["a"] != "b" {
				t.Errorf("the consumer sees %v", got.Object)
			}
			must(t, client.Delete(ctx, "all-verbs", metav1.DeleteOptions{}))
			_, err = client.Get(ctx, "all-verbs", metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"DeleteCollection": {
		reason: "a collection is deleted in one consumer and nowhere else",
		test: func(t *testing.T, s *suite) {
			for _, in := range []place{s.first, s.second} {
				obj := cowboy("collected", "")
				obj.SetLabels(map[string]string{"collected": "yes"})
				_, err := s.admin(t, in).Resource(cowboys).Namespace("default").Create(t.Context(), obj, metav1.CreateOptions{})
				must(t, err)
			}
			client := s.through(t, providing, s.first).Resource(cowboys).Namespace("default")
			must(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "collected=yes"}))
			found, err := list(t.Context(), s.through(t, providing, everywhere), cowboys)
			must(t, err)
			if in := clusters(found, "collected"); in[s.first.name] || !in[s.second.name] {
				t.Errorf("left in %v", in)
			}
		},
	},
	"Provider": {
		reason: "what a provider does in a consumer is done by the provider: that is who the consumer's policies see",
		test: func(t *testing.T, s *suite) {
			consumer := s.newPlace(t)
			s.bind(t, consumer, s.provider, "wild.west", accept("configmaps", "matchAll: true"))
			mustCreate(t, s.admin(t, consumer).Resource(policies), parse(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: not-by-user-1}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations:
  - {expression: "request.userInfo.username != 'user-1' || !object.metadata.name.startsWith('policed')", message: "not by that one"}
`))
			mustCreate(t, s.admin(t, consumer).Resource(policyBindings), parse(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: not-by-user-1}
spec: {policyName: not-by-user-1, validationActions: [Deny]}
`))
			client := s.through(t, providing, consumer).Resource(configmaps).Namespace("default")
			eventuallyRefused(t, func(i int) error {
				_, err := client.Create(t.Context(), configmap("policed-"+letters(i), nil), metav1.CreateOptions{})
				return err
			}, "not by that one")
		},
	},
	"Consumers": {
		reason: "consumers do not reach each other, or the provider, through the virtual workspace",
		test: func(t *testing.T, s *suite) {
			for _, in := range []place{everywhere, s.first, s.second, s.third} {
				client := s.through(t, consuming, in)
				_, err := list(t.Context(), client, cowboys)
				wantCode(t, err, http.StatusForbidden, "access denied")
				_, err = client.Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("trespasser", ""), metav1.CreateOptions{})
				wantCode(t, err, http.StatusForbidden, "access denied")
			}
			// Nor by an export of their own that is called the same.
			s.provide(t, s.third, cowboySchema, cowboyExport)
			s.grant(t, s.third, "everything", consumingName)
			config := s.config(t, consuming, s.third, "wild.west", s.first)
			eventuallyAllowed(t, func() error {
				_, err := list(t.Context(), newClient(t, s.config(t, consuming, s.third, "wild.west", everywhere)), cowboys)
				return err
			})
			_, err := list(t.Context(), newClient(t, config), cowboys)
			wantCode(t, err, http.StatusForbidden, "access denied")
			_, err = newClient(t, config).Resource(configmaps).Namespace("default").Create(t.Context(), configmap("trespasser", nil), metav1.CreateOptions{})
			wantCode(t, err, http.StatusForbidden, "access denied")
		},
	},
	"ServiceAccounts": {
		reason: "a service account of the provider's workspace may be a controller",
		test: func(t *testing.T, s *suite) {
			admin := s.admin(t, s.provider)
			mustCreate(t, admin.Resource(serviceaccounts).Namespace("default"), map[string]any{
				"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "controller"},
			})
			mustCreate(t, admin.Resource(rolebinding), map[string]any{
				"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "controller"},
				"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "everything"},
				"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "controller", "namespace": "default"}},
			})
			token, err := admin.Resource(serviceaccounts).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": "controller"}, "spec": map[string]any{},
			}}, metav1.CreateOptions{}, "token")
			must(t, err)
			bearer, _, _ := unstructured.NestedString(token.Object, "status", "token")
			eventuallyAllowed(t, func() error {
				_, err := list(t.Context(), s.through(t, bearer, everywhere), cowboys)
				return err
			})
			client := s.through(t, bearer, s.first).Resource(cowboys).Namespace("default")
			_, err = client.Create(t.Context(), cowboy("by-a-controller", ""), metav1.CreateOptions{})
			must(t, err)
			_, err = list(t.Context(), s.through(t, bearer, s.third), cowboys)
			wantCode(t, err, http.StatusForbidden, "access denied")
		},
	},
	"ForeignServiceAccounts": {
		reason: "a service account of a consumer is not the one of its name at the provider",
		test: func(t *testing.T, s *suite) {
			for _, at := range []place{s.provider, s.first} {
				mustCreate(t, s.admin(t, at).Resource(serviceaccounts).Namespace("default"), map[string]any{
					"apiVersion": "v1", "kind": "ServiceAccount", "metadata": map[string]any{"name": "namesake"},
				})
			}
			mustCreate(t, s.admin(t, s.provider).Resource(rolebinding), map[string]any{
				"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "namesake"},
				"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "everything"},
				"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "namesake", "namespace": "default"}},
			})
			bearer := func(at place) string {
				token, err := s.admin(t, at).Resource(serviceaccounts).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": "namesake"}, "spec": map[string]any{},
				}}, metav1.CreateOptions{}, "token")
				must(t, err)
				value, _, _ := unstructured.NestedString(token.Object, "status", "token")
				return value
			}
			own, foreign := bearer(s.provider), bearer(s.first)
			eventuallyAllowed(t, func() error {
				_, err := list(t.Context(), s.through(t, own, everywhere), cowboys)
				return err
			})
			for _, in := range []place{everywhere, s.first, s.second} {
				_, err := list(t.Context(), s.through(t, foreign, in), cowboys)
				wantCode(t, err, http.StatusForbidden, "access denied")
			}
		},
	},
	"Shadowed": {
		reason: "a resource that a consumer has from elsewhere is not the provider's",
		test: func(t *testing.T, s *suite) {
			consumer := s.newPlace(t)
			mustCreate(t, s.admin(t, consumer).Resource(crds), parse(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cowboys.wildwest.dev}
spec:
  group: wildwest.dev
  names: {plural: cowboys, singular: cowboy, kind: Cowboy, listKind: CowboyList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`))
			eventuallyAllowed(t, func() error {
				_, err := s.admin(t, consumer).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("local", ""), metav1.CreateOptions{})
				return err
			})
			s.create(t, consumer, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: wild.west}
spec: {reference: {export: {path: "`+s.provider.path+`", name: wild.west}}}
`)
			// It says whose it is as soon as it has been looked at.
			eventuallyRefused(t, func(int) error {
				_, err := list(t.Context(), s.through(t, providing, consumer), cowboys)
				return err
			}, "apibinding wild.west has not bound cowboys.wildwest.dev")
			_, err := list(t.Context(), s.through(t, master, consumer), cowboys)
			wantCode(t, err, http.StatusNotFound)
			found, err := list(t.Context(), s.through(t, providing, everywhere), cowboys)
			must(t, err)
			if len(clusters(found, "local")) != 0 {
				t.Error("an object of a definition of a consumer is shown")
			}
		},
	},
}

// letters makes a name of a number.
func letters(i int) string { return strings.Repeat("x", i+1) }
