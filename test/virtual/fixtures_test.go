package virtual

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// Users, by token. All but the last two have access to the workspaces of providers.
const (
	// providing may do everything with what belongs to exports.
	providing, providingName = "user-1-token", "user-1"
	// looking may list and watch it.
	looking, lookingName = "user-2-token", "user-2"
	// visiting may do nothing with it.
	visiting, visitingName = "user-3-token", "user-3"
	// consuming is admin of consumers.
	consuming, consumingName = "user-4-token", "user-4"
	// stranger has nothing to do with anything here.
	stranger = "user-5-token"
	// master is beyond authorization.
	master = "admin-token"
)

var (
	schemas     = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	exports     = apisv1alpha2.GroupVersion.WithResource("apiexports")
	apibindings = apisv1alpha2.GroupVersion.WithResource("apibindings")
	cowboys     = schema.GroupVersionResource{Group: "wildwest.dev", Version: "v1", Resource: "cowboys"}
	configmaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	clusterrole = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	rolebinding = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}
)

// suite is a server with a provider, whose export two consumers have bound and a third
// has not.
type suite struct {
	server   *servertest.Server
	provider place
	// first and second have bound the export, third has not.
	first, second, third place
}

// place is a workspace.
type place struct {
	// name is that of its logical cluster.
	name, path string
}

const cowboySchema = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: today.cowboys.wildwest.dev}
spec:
  group: wildwest.dev
  names: {plural: cowboys, singular: cowboy, kind: Cowboy, listKind: CowboyList, shortNames: [cb]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    schema:
      type: object
      properties:
        spec: {type: object, properties: {intent: {type: string}, replicas: {type: integer}}}
        status: {type: object, properties: {result: {type: string}, replicas: {type: integer}}}
`

// cowboyExport exports cowboys, and claims what the consumers accept in different ways.
const cowboyExport = `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: wild.west}
spec:
  resources:
  - {name: cowboys, group: wildwest.dev, schema: today.cowboys.wildwest.dev}
  permissionClaims:
  - {resource: configmaps, verbs: [get, list, create, update, patch, delete, deletecollection, watch]}
  - {resource: secrets, verbs: ["*"]}
  - {resource: serviceaccounts, verbs: ["*"]}
  - {resource: events, verbs: ["*"]}
  - {group: authorization.k8s.io, resource: subjectaccessreviews, verbs: [create]}
`

// content gives those who use exports what the tests want of them.
const content = `
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: everything}
  rules:
  - {apiGroups: [apis.kcp.io], resources: [apiexports/content], verbs: ["*"]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: looking}
  rules:
  - {apiGroups: [apis.kcp.io], resources: [apiexports/content], verbs: [list, watch]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: entering}
  rules:
  - {nonResourceURLs: ["/"], verbs: [access]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: binding}
  rules:
  - {apiGroups: [apis.kcp.io], resources: [apiexports], verbs: [bind]}
`

// prepare makes the workspaces.
func (s *suite) prepare(t *testing.T) {
	s.provider = s.newPlace(t)
	s.provide(t, s.provider, cowboySchema, cowboyExport)
	s.first, s.second, s.third = s.newPlace(t), s.newPlace(t), s.newPlace(t)
	s.bind(t, s.first, s.provider, "wild.west", accept("configmaps", "matchAll: true"), accept("subjectaccessreviews.authorization.k8s.io", "matchAll: true"))
	s.bind(t, s.second, s.provider, "wild.west", accept("configmaps", "matchLabels: {shared: with-provider}"))
	for _, p := range []place{s.first, s.second, s.third} {
		s.grant(t, p, "cluster-admin", consumingName)
	}
}

// newPlace makes a workspace.
func (s *suite) newPlace(t *testing.T) place {
	t.Helper()
	ws := s.server.Workspace(t, "root", "")
	return place{name: ws.Spec.Cluster, path: "root:" + ws.Name}
}

// provide creates objects in the workspace of a provider, with the permissions of the
// users, and waits until the export, if there is one among them, has an identity.
func (s *suite) provide(t *testing.T, at place, manifests ...string) {
	t.Helper()
	admin := s.admin(t, at)
	var roles []map[string]any
	if err := yaml.Unmarshal([]byte(content), &roles); err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		mustCreate(t, admin.Resource(clusterrole), role)
	}
	s.grant(t, at, "entering", providingName, lookingName, visitingName)
	s.grant(t, at, "everything", providingName)
	s.grant(t, at, "looking", lookingName)
	for _, manifest := range manifests {
		s.create(t, at, manifest)
	}
}

// create creates an object of apis.kcp.io as the administrator.
func (s *suite) create(t *testing.T, at place, manifest string) *unstructured.Unstructured {
	t.Helper()
	obj := parse(t, manifest)
	gvk := (&unstructured.Unstructured{Object: obj}).GroupVersionKind()
	resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
	created := mustCreate(t, s.admin(t, at).Resource(resource), obj)
	if gvk.Kind == "APIExport" {
		servertest.Eventually(t, "the export gets an identity", func() (bool, any) {
			e, err := s.admin(t, at).Resource(exports).Get(t.Context(), created.GetName(), metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			hash, _, _ := unstructured.NestedString(e.Object, "status", "identityHash")
			created = e
			return hash != "", e.Object
		})
	}
	return created
}

// grant gives a cluster role to users.
func (s *suite) grant(t *testing.T, at place, role string, users ...string) {
	t.Helper()
	var subjects []any
	for _, user := range users {
		subjects = append(subjects, map[string]any{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"})
	}
	mustCreate(t, s.admin(t, at).Resource(rolebinding), map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"generateName": role + "-"},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
		"subjects": subjects,
	})
}

// accept is the answer to a claim on "resource" or "resource.group", with its selector.
func accept(resource, selector string) string {
	return answer(resource, selector, "Accepted", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
}

func answer(resource, selector, state string, verbs ...string) string {
	name, group, _ := strings.Cut(resource, ".")
	return fmt.Sprintf("{group: %q, resource: %s, state: %s, verbs: [%s], selector: {%s}}", group, name, state, `"`+strings.Join(verbs, `","`)+`"`, selector)
}

// bind binds an export and waits until it is bound. The binding is called like the export.
func (s *suite) bind(t *testing.T, at, provider place, export string, answers ...string) {
	t.Helper()
	s.create(t, at, fmt.Sprintf(`
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: %s}
spec:
  reference: {export: {path: %q, name: %s}}
  permissionClaims: [%s]
`, export, provider.path, export, strings.Join(answers, ", ")))
	s.bound(t, at, export)
}

// bound waits until a binding is bound and its claims are applied.
func (s *suite) bound(t *testing.T, at place, name string) {
	t.Helper()
	servertest.Eventually(t, "the export is bound", func() (bool, any) {
		b, err := s.admin(t, at).Resource(apibindings).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		phase, _, _ := unstructured.NestedString(b.Object, "status", "phase")
		return phase == "Bound" && isTrue(b, "PermissionClaimsApplied"), b.Object["status"]
	})
}

// isTrue says whether a condition is.
func isTrue(obj *unstructured.Unstructured, kind string) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == kind && condition["status"] == "True"
	})
}

// admin returns a client of the administrator.
func (s *suite) admin(t *testing.T, at place) dynamic.Interface {
	t.Helper()
	return newClient(t, s.server.In(t, "base", at.name))
}

// everywhere is all consumers.
var everywhere = place{name: "*", path: "*"}

// services returns the URL of an export's virtual workspace for one consumer or for all.
func services(provider place, export string, consumer place) string {
	return "/services/apiexport/" + provider.name + "/" + export + "/clusters/" + consumer.name
}

// config returns the configuration of a user who looks from an export into a consumer.
func (s *suite) config(t *testing.T, token string, provider place, export string, consumer place) *rest.Config {
	t.Helper()
	config := s.server.As(t, token, "root")
	config.Host = s.server.URL() + services(provider, export, consumer)
	return config
}

// through returns a client of a user who looks from the export of the suite into a
// consumer.
func (s *suite) through(t *testing.T, token string, consumer place) dynamic.Interface {
	t.Helper()
	return newClient(t, s.config(t, token, s.provider, "wild.west", consumer))
}

func newClient(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func parse(t *testing.T, manifest string) map[string]any {
	t.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func mustCreate(t *testing.T, client dynamic.ResourceInterface, obj map[string]any) *unstructured.Unstructured {
	t.Helper()
	created, err := client.Create(t.Context(), &unstructured.Unstructured{Object: obj}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %v: %v", obj, err)
	}
	return created
}

// cowboy is an object of the export of the suite.
func cowboy(name, intent string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "wildwest.dev/v1", "kind": "Cowboy",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"intent": intent},
	}}
}

// configmap is an object of what is claimed.
func configmap(name string, labels map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "default", "labels": labels},
		"data":     map[string]any{"key": "value"},
	}}
}

// clusters returns where the objects of a list are that are called name.
func clusters(list *unstructured.UnstructuredList, name string) map[string]bool {
	found := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].GetName() == name {
			found[list.Items[i].GetAnnotations()["kcp.io/cluster"]] = true
		}
	}
	return found
}

// wantCode fails unless err is a Status of that code that says all of texts.
func wantCode(t *testing.T, err error, code int32, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %d", code)
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != code {
		t.Fatalf("got %v, want %d", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// list lists a resource in all namespaces.
func list(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource) (*unstructured.UnstructuredList, error) {
	return client.Resource(resource).List(ctx, metav1.ListOptions{})
}
