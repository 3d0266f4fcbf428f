package lifecycle

import (
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// access is who may act as a hook.
var access = map[string]behavior{
	"Verb": {
		reason: "33: who may not use the verb on the type is forbidden everything, and reads the same whether there is such a type or not",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			for _, kind := range []string{initializing, ending} {
				for _, token := range []string{visitor, stranger, second} {
					var bodies []string
					for _, hook := range []string{"first", "none"} {
						for _, path := range []string{
							s.at(kind, hook, everywhere) + "/apis/core.kcp.io/v1alpha1/logicalclusters",
							s.at(kind, hook, ws.Spec.Cluster) + "/apis/core.kcp.io/v1alpha1/logicalclusters/cluster",
							s.at(kind, hook, ws.Spec.Cluster) + "/api/v1/namespaces/default/configmaps",
							s.at(kind, hook, everywhere) + "/apis", s.at(kind, hook, ws.Spec.Cluster) + "/api/v1", s.at(kind, hook, everywhere) + "/openapi/v3",
						} {
							got := s.send(t, token, http.MethodGet, path, "", nil)
							if got.code != http.StatusForbidden {
								t.Errorf("%s as %s: got %d %s", path, token, got.code, got.body)
							}
							bodies = append(bodies, got.body)
						}
					}
					for i, body := range bodies[:len(bodies)/2] {
						if other := bodies[i+len(bodies)/2]; body != other {
							t.Errorf("a type that is not there shows:\n%s\n%s", body, other)
						}
					}
				}
			}
		},
	},
	"Kinds": {
		reason: "the verbs are two: who may initialize may not terminate",
		test: func(t *testing.T, s *suite) {
			s.create(t, s.types, `
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: only-terminating}
  rules:
  - {apiGroups: [tenancy.kcp.io], resources: [workspacetypes], resourceNames: [starting], verbs: [terminate]}
`)
			s.grant(t, s.types, "only-terminating", "user-2")
			servertest.Eventually(t, "he may terminate", func() (bool, any) {
				_, err := s.all(t, second, ending, "starting").List(t.Context(), metav1.ListOptions{})
				return err == nil, err
			})
			_, err := s.all(t, second, initializing, "starting").List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden)
		},
	},
	"Workspace": {
		reason: "who has the verb but no access to the workspace of the type may not act: it is asked as any review is",
		test: func(t *testing.T, s *suite) {
			ws := s.server.Workspace(t, "root", "")
			elsewhere := &suite{server: s.server, types: ws.Spec.Cluster, path: "root:" + ws.Name}
			s.create(t, elsewhere.types, manifests)
			elsewhere.grant(t, elsewhere.types, "first", "user-4")
			elsewhere.grant(t, elsewhere.types, "first", "user-1")
			elsewhere.grant(t, elsewhere.types, "entering", "user-1")
			servertest.Eventually(t, "who may enter may act", func() (bool, any) {
				_, err := elsewhere.all(t, first, initializing, "first").List(t.Context(), metav1.ListOptions{})
				return err == nil, err
			})
			_, err := elsewhere.all(t, "user-4-token", initializing, "first").List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden)
		},
	},
	"Admins": {
		reason: "administrators of everything pass, those without limits even where there is no such type or workspace; nobody else acts as the server's own hooks",
		test: func(t *testing.T, s *suite) {
			admin := s.server.In(t, "base", "root")
			for _, id := range []string{s.id("first"), s.id("none"), "system:apibindings"} {
				at := "/services/initializingworkspaces/" + id + "/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters"
				if got := s.send(t, master, http.MethodGet, at, "", nil); got.code != http.StatusOK {
					t.Errorf("%s: got %d %s", at, got.code, got.body)
				}
				config := *admin
				config.Host = s.server.URL() + "/services/initializingworkspaces/" + id + "/clusters/*"
				_, err := newClient(t, &config).Resource(logicalclusters).List(t.Context(), metav1.ListOptions{})
				must(t, err)
				if got := s.send(t, visitor, http.MethodGet, at, "", nil); got.code != http.StatusForbidden {
					t.Errorf("%s as a user: got %d", at, got.code)
				}
			}
		},
	},
	"ServiceAccount": {
		reason: "a service account of the workspace of the type acts there as itself, and needs nothing else than the verb",
		test: func(t *testing.T, s *suite) {
			ws, namespace := s.newborn(t, "first"), "default"
			config := s.server.In(t, "base", s.types)
			client, err := kubernetes.NewForConfig(config)
			must(t, err)
			_, err = client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "controller"}}, metav1.CreateOptions{})
			must(t, err)
			token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
			must(t, err)
			_, err = s.all(t, token.Status.Token, initializing, "first").List(t.Context(), metav1.ListOptions{})
			wantCode(t, err, http.StatusForbidden)
			s.create(t, s.types, `
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: controller}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: first}
  subjects: [{kind: ServiceAccount, namespace: default, name: controller}]
`)
			servertest.Eventually(t, "it sees what waits", func() (bool, any) {
				list, err := s.all(t, token.Status.Token, initializing, "first").List(t.Context(), metav1.ListOptions{})
				return err == nil && contains(list, ws.Spec.Cluster), err
			})
			_, err = patch(t, s.one(t, token.Status.Token, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":[]}}`)
			must(t, err)
			s.awaitReady(t, ws.Name)
		},
	},
	"Anonymous": {
		reason: "without credentials nothing is said",
		test: func(t *testing.T, s *suite) {
			got := s.send(t, "", http.MethodGet, s.at(initializing, "first", everywhere)+"/apis/core.kcp.io/v1alpha1/logicalclusters", "", nil)
			if got.code != http.StatusForbidden && got.code != http.StatusUnauthorized {
				t.Errorf("got %d %s", got.code, got.body)
			}
		},
	},
	"Paths": {
		reason: "a URL is what it says: no spelling leads to a hook that one may not act as, or out of the virtual workspace",
		test: func(t *testing.T, s *suite) {
			ws, other := s.newborn(t, "first"), s.newborn(t, "second")
			const objects = "/apis/core.kcp.io/v1alpha1/logicalclusters"
			at := "/services/initializingworkspaces/"
			for _, path := range []string{
				// The part before the last colon is the name of a cluster, not a path.
				at + s.path + ":first/clusters/*" + objects,
				at + s.path + "/clusters/*" + objects,
				at + s.types + "/clusters/*" + objects,
				at + ":first/clusters/*" + objects,
				at + s.types + ":/clusters/*" + objects,
				at + "*:first/clusters/*" + objects,
				at + s.types + "%3Afirst/clusters/*" + objects,
				at + s.types + ":second/../" + s.id("first") + "/clusters/*" + objects,
				at + s.types + ":first%2F..%2F" + s.types + ":second/clusters/*" + objects,
				at + s.id("first") + "/../../initializingworkspaces/" + s.id("second") + "/clusters/*" + objects,
				at + "./" + s.id("first") + "/clusters/*" + objects,
				at + "/" + s.id("first") + "/clusters/*" + objects,
				// Clusters are given by name.
				at + s.id("first") + "/clusters/" + s.path + ":" + ws.Name + objects + "/cluster",
				at + s.id("first") + objects,
				at + s.id("first") + "/clusters/",
				at + s.id("first"),
				at,
				// The name of the other kind, and none.
				"/services/initializing/" + s.id("first") + "/clusters/*" + objects,
				"/services/InitializingWorkspaces/" + s.id("first") + "/clusters/*" + objects,
				// What is not there, or in another cluster.
				at + s.id("first") + "/clusters/" + other.Spec.Cluster + objects + "/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + "/clusters/" + other.Spec.Cluster + objects + "/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + "%2F" + other.Spec.Cluster + objects + "/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + "/../" + other.Spec.Cluster + objects + "/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + objects + "/other",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + objects + "/cluster/scale",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + objects + ":identity/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + "/apis/core.kcp.io/v1alpha1/namespaces/default/logicalclusters/cluster",
				at + s.id("first") + "/clusters/" + ws.Spec.Cluster + "/apis/core.kcp.io/v2/logicalclusters/cluster",
				at + s.id("first") + "/clusters/*/api/v1/configmaps",
				at + s.id("first") + "/clusters/*/apis/core.kcp.io/v1alpha1/shards",
			} {
				got := s.send(t, first, http.MethodGet, path, "", nil)
				if got.code != http.StatusForbidden && got.code != http.StatusNotFound {
					t.Errorf("%s: got %d %s", path, got.code, got.body)
				}
				if strings.Contains(got.body, other.Spec.Cluster) && !strings.Contains(path, other.Spec.Cluster) {
					t.Errorf("%s: tells of another: %s", path, got.body)
				}
			}
			if got := s.send(t, first, http.MethodGet, at+s.id("first")+"/clusters/%2A"+objects, "", nil); got.code != http.StatusOK {
				t.Errorf("client-go escapes the wildcard: got %d %s", got.code, got.body)
			}
		},
	},
}
