package virtual

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
)

// claims is what a provider sees of objects that are not its own.
var claims = map[string]behavior{
	"Reasons": {
		reason: "who may use the export reads which claim is missing, everybody else that access is denied",
		test: func(t *testing.T, s *suite) {
			consumer := s.newPlace(t)
			s.bind(t, consumer, s.provider, "wild.west",
				answer("configmaps", "matchAll: true", "Accepted", "get", "list"), answer("serviceaccounts", "matchAll: true", "Rejected", "*"))
			client := s.through(t, providing, consumer)
			_, err := client.Resource(configmaps).Namespace("default").Create(t.Context(), configmap("x", nil), metav1.CreateOptions{})
			wantCode(t, err, http.StatusForbidden, "the permission claim for configmaps that apibinding wild.west has accepted does not include verb create")
			_, err = list(t.Context(), client, secrets)
			wantCode(t, err, http.StatusForbidden, "apibinding wild.west has not accepted the permission claim for secrets with verb list")
			_, err = list(t.Context(), client, serviceaccounts)
			wantCode(t, err, http.StatusForbidden, "apibinding wild.west has not accepted the permission claim for serviceaccounts with verb list")
			_, err = list(t.Context(), client, namespaces)
			wantCode(t, err, http.StatusForbidden, "apiexport wild.west neither exports nor claims namespaces")
			_, err = list(t.Context(), s.through(t, visiting, consumer), secrets)
			wantCode(t, err, http.StatusForbidden, "access denied")
			_, err = list(t.Context(), s.through(t, master, consumer), namespaces)
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Intersection": {
		reason: "what both sides name is allowed, word by word",
		test: func(t *testing.T, s *suite) {
			consumer := s.newPlace(t)
			s.bind(t, consumer, s.provider, "wild.west",
				answer("configmaps", "matchAll: true", "Accepted", "get", "*"), answer("secrets", "matchAll: true", "Accepted", "get"),
				answer("serviceaccounts", "matchAll: true", "Accepted", "*"))
			client := s.through(t, providing, consumer)
			_, err := client.Resource(configmaps).Namespace("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
			must(t, err)
			_, err = list(t.Context(), client, configmaps)
			wantCode(t, err, http.StatusForbidden, "does not include verb list")
			_, err = client.Resource(secrets).Namespace("default").Get(t.Context(), "x", metav1.GetOptions{})
			wantCode(t, err, http.StatusForbidden, "does not include verb get")
			found, err := list(t.Context(), client, serviceaccounts)
			must(t, err)
			if len(clusters(found, "default")) != 1 {
				t.Errorf("%d service accounts", len(found.Items))
			}
			// A token is more than the claim is for.
			_, err = client.Resource(serviceaccounts).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": "default"}, "spec": map[string]any{},
			}}, metav1.CreateOptions{}, "token")
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Selected": {
		reason: "what the selector does not match is not there, by any verb",
		test: func(t *testing.T, s *suite) {
			own := s.admin(t, s.second).Resource(configmaps).Namespace("default")
			_, err := own.Create(t.Context(), configmap("private", nil), metav1.CreateOptions{})
			must(t, err)
			_, err = own.Create(t.Context(), configmap("shared", map[string]any{"shared": "with-provider"}), metav1.CreateOptions{})
			must(t, err)
			client := s.through(t, providing, s.second).Resource(configmaps).Namespace("default")
			_, err = client.Get(t.Context(), "shared", metav1.GetOptions{})
			must(t, err)
			_, err = client.Get(t.Context(), "private", metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
			_, err = client.Patch(t.Context(), "private", types.MergePatchType, []byte(`{"data":{"stolen":"yes"}}`), metav1.PatchOptions{})
			wantCode(t, err, http.StatusNotFound)
			_, err = client.Update(t.Context(), configmap("private", map[string]any{"shared": "with-provider"}), metav1.UpdateOptions{})
			wantCode(t, err, http.StatusNotFound)
			wantCode(t, client.Delete(t.Context(), "private", metav1.DeleteOptions{}), http.StatusNotFound)
			must(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=private"}))
			_, err = own.Get(t.Context(), "private", metav1.GetOptions{})
			must(t, err)
			for _, in := range []place{s.second, everywhere} {
				// Selectors of clients, well-formed or not, do not get around that.
				for _, selector := range []string{"", "shared", "!shared", "shared in (with-provider"} {
					found, err := s.through(t, providing, in).Resource(configmaps).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
					if selector == "shared in (with-provider" {
						wantCode(t, err, http.StatusBadRequest)
						continue
					}
					must(t, err)
					if clusters(found, "private")[s.second.name] {
						t.Errorf("a list of %s by %q has what was not shared", in.name, selector)
					}
					if clusters(found, "shared")[s.second.name] == (selector == "!shared") {
						t.Errorf("a list of %s by %q: %v", in.name, selector, clusters(found, "shared"))
					}
				}
			}
		},
	},
	"Created": {
		reason: "what a provider creates is what it may see",
		test: func(t *testing.T, s *suite) {
			client := s.through(t, providing, s.second).Resource(configmaps).Namespace("default")
			created, err := client.Create(t.Context(), configmap("filled-in", nil), metav1.CreateOptions{})
			must(t, err)
			if created.GetLabels()["shared"] != "with-provider" {
				t.Errorf("labels: %v", created.GetLabels())
			}
			_, err = client.Create(t.Context(), configmap("conflicting", map[string]any{"shared": "with-nobody"}), metav1.CreateOptions{})
			wantCode(t, err, http.StatusForbidden, "protected label", "shared", "with-provider")
		},
	},
	"Apply": {
		reason: "applying what is missing creates it, if creating is allowed as well",
		test: func(t *testing.T, s *suite) {
			consumer := s.newPlace(t)
			s.bind(t, consumer, s.provider, "wild.west", answer("configmaps", "matchAll: true", "Accepted", "get", "patch"))
			client := s.through(t, providing, consumer).Resource(configmaps).Namespace("default")
			missing := configmap("applied", nil)
			_, err := client.Apply(t.Context(), "applied", missing, metav1.ApplyOptions{FieldManager: "provider"})
			wantCode(t, err, http.StatusForbidden)
			_, err = client.Patch(t.Context(), "applied", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
			wantCode(t, err, http.StatusNotFound)
			_, err = s.through(t, providing, s.first).Resource(configmaps).Namespace("default").
				Apply(t.Context(), "applied", configmap("applied", nil), metav1.ApplyOptions{FieldManager: "provider"})
			must(t, err)
		},
	},
	"Withdrawn": {
		reason: "what is not shared any more is deleted for who watches, and not there for who reads",
		test: func(t *testing.T, s *suite) {
			own := s.admin(t, s.second).Resource(configmaps).Namespace("default")
			_, err := own.Create(t.Context(), configmap("withdrawn", map[string]any{"shared": "with-provider"}), metav1.CreateOptions{})
			must(t, err)
			w, err := s.through(t, providing, everywhere).Resource(configmaps).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=withdrawn"})
			must(t, err)
			defer w.Stop()
			if event := next(t, w); event.kind != "ADDED" || event.cluster != s.second.name {
				t.Fatalf("got %+v", event)
			}
			_, err = own.Patch(t.Context(), "withdrawn", types.MergePatchType, []byte(`{"metadata":{"labels":{"shared":null}}}`), metav1.PatchOptions{})
			must(t, err)
			if event := next(t, w); event.kind != "DELETED" {
				t.Errorf("got %+v", event)
			}
			_, err = s.through(t, providing, s.second).Resource(configmaps).Namespace("default").Get(t.Context(), "withdrawn", metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Reviews": {
		reason: "a claimed access review is about the consumer",
		test: func(t *testing.T, s *suite) {
			for name, tc := range map[string]struct {
				user string
				want bool
			}{"its admin": {consumingName, true}, "the provider, who has no role there": {providingName, false}} {
				review, err := s.through(t, providing, s.first).Resource(reviews).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
					"spec": map[string]any{"user": tc.user, "resourceAttributes": map[string]any{"verb": "list", "resource": "secrets"}},
				}}, metav1.CreateOptions{})
				must(t, err)
				if allowed, _, _ := unstructured.NestedBool(review.Object, "status", "allowed"); allowed != tc.want {
					t.Errorf("%s: allowed %t", name, allowed)
				}
			}
		},
	},
	"Bindings": {
		reason: "with a claim for bindings a provider makes only those that it may make itself",
		test: func(t *testing.T, s *suite) {
			greedy, other, consumer := s.newPlace(t), s.newPlace(t), s.newPlace(t)
			s.provide(t, greedy, cowboySchema, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: greedy}
spec:
  permissionClaims: [{group: apis.kcp.io, resource: apibindings, verbs: ["*"]}]
`)
			s.provide(t, other, cowboySchema, bareExport)
			s.bind(t, consumer, greedy, "greedy", answer("apibindings.apis.kcp.io", "matchAll: true", "Accepted", "*"))
			client := newClient(t, s.config(t, providing, greedy, "greedy", consumer)).Resource(apibindings)
			made := func() *unstructured.Unstructured {
				return &unstructured.Unstructured{Object: parse(t, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: made}
spec: {reference: {export: {path: "`+other.path+`", name: bare}}}
`)}
			}
			_, err := client.Create(t.Context(), made(), metav1.CreateOptions{})
			wantCode(t, err, http.StatusForbidden, "unable to create APIBinding: no permission to bind to export "+other.path+":bare")
			s.grant(t, other, "binding", providingName)
			eventuallyAllowed(t, func() error {
				_, err := client.Create(t.Context(), made(), metav1.CreateOptions{})
				return err
			})
			found, err := client.List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if !clusters(found, "made")[consumer.name] || !clusters(found, "greedy")[consumer.name] {
				t.Errorf("%d bindings", len(found.Items))
			}
			// Statuses say what the server trusts.
			_, err = client.Patch(t.Context(), "made", types.MergePatchType, []byte(`{"status":{"phase":"Bound"}}`), metav1.PatchOptions{}, "status")
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Identity": {
		reason: "what others export is claimed by identity, within what their policy allows",
		test: func(t *testing.T, s *suite) {
			owner, claimer, consumer := s.newPlace(t), s.newPlace(t), s.newPlace(t)
			s.create(t, owner, cowboySchema)
			export := s.create(t, owner, bareExport)
			hash, _, _ := unstructured.NestedString(export.Object, "status", "identityHash")
			s.provide(t, claimer, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: claiming}
spec:
  permissionClaims: [{group: wildwest.dev, resource: cowboys, verbs: ["*"], identityHash: `+hash+`}]
`)
			client := func(in place) dynamic.NamespaceableResourceInterface {
				return newClient(t, s.config(t, providing, claimer, "claiming", in)).Resource(cowboys)
			}
			found, err := client(everywhere).List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if len(found.Items) != 0 {
				t.Error("objects are shown that nobody has given")
			}
			s.bind(t, consumer, owner, "bare")
			s.bind(t, consumer, claimer, "claiming", `{group: wildwest.dev, resource: cowboys, identityHash: `+hash+`, state: Accepted, verbs: ["*"], selector: {matchAll: true}}`)
			_, err = client(consumer).Namespace("default").Create(t.Context(), cowboy("claimed", ""), metav1.CreateOptions{})
			must(t, err)
			// The same resource of another provider is another resource.
			_, err = s.admin(t, s.first).Resource(cowboys).Namespace("default").Create(t.Context(), cowboy("not-claimed", ""), metav1.CreateOptions{})
			must(t, err)
			found, err = client(everywhere).List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if len(found.Items) != 1 || !clusters(found, "claimed")[consumer.name] {
				t.Errorf("%d objects", len(found.Items))
			}

			_, err = s.admin(t, owner).Resource(exports).Patch(t.Context(), "bare", types.MergePatchType,
				[]byte(`{"spec":{"maximalPermissionPolicy":{"local":{}}}}`), metav1.PatchOptions{})
			must(t, err)
			eventuallyRefused(t, func(int) error {
				_, err := client(consumer).List(t.Context(), metav1.ListOptions{})
				return err
			}, "the maximal permission policy of the export that cowboys.wildwest.dev is bound from does not allow verb list")
			_, err = client(everywhere).List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden)
			mustCreate(t, s.admin(t, owner).Resource(clusterrole), parse(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: policy}
rules:
- {apiGroups: [wildwest.dev], resources: [cowboys], verbs: [list]}
`))
			s.grant(t, owner, "policy", "apis.kcp.io:binding:"+providingName)
			eventuallyAllowed(t, func() error {
				_, err := client(consumer).List(t.Context(), metav1.ListOptions{})
				return err
			})
			_, err = client(consumer).Namespace("default").Get(t.Context(), "claimed", metav1.GetOptions{})
			wantCode(t, err, http.StatusForbidden, "does not allow verb get")
		},
	},
	"Dropped": {
		reason: "what the export does not claim any more is not there",
		test: func(t *testing.T, s *suite) {
			provider, consumer := s.newPlace(t), s.newPlace(t)
			s.provide(t, provider, cowboySchema, cowboyExport)
			s.bind(t, consumer, provider, "wild.west", accept("configmaps", "matchAll: true"))
			_, err := s.admin(t, provider).Resource(exports).Patch(t.Context(), "wild.west", types.MergePatchType, []byte(`{"spec":{"permissionClaims":[]}}`), metav1.PatchOptions{})
			must(t, err)
			servertest.Eventually(t, "the claimed resource is not found", func() (bool, any) {
				code, body := s.get(t, providing, services(provider, "wild.west", everywhere)+"/api/v1/configmaps")
				return code == http.StatusNotFound, body
			})
			_, err = list(t.Context(), newClient(t, s.config(t, providing, provider, "wild.west", consumer)), configmaps)
			wantCode(t, err, http.StatusForbidden, "neither exports nor claims")
		},
	},
}
