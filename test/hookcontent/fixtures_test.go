package hookcontent

import (
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Users, by token.
const (
	// controller is the user who acts for the hooks of all types.
	controller, controllerName = "user-1-token", "user-1"
	// creator creates the workspaces, unless somebody else is said to.
	creator, creatorName = "user-2-token", "user-2"
	// visitor has access to the workspace of the types, and acts for no hook.
	visitor, visitorName = "user-3-token", "user-3"
	// master is beyond authorization.
	master = "admin-token"
)

// The kinds of hooks, as URLs have them.
const (
	initializing = "initializingworkspaces"
	ending       = "terminatingworkspaces"
)

var (
	logicalclusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	workspaces      = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	workspacetypes  = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")
)

// suite is a server with a workspace that has types.
type suite struct {
	server *servertest.Server
	// types is the cluster that has the types, and path where it is.
	types, path string
	// account is the token of a service account there, who acts for the hooks as well.
	account string
}

// manifests are the types, and who may act for their hooks. ruled has permissions, trusted
// has none.
const manifests = `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: ruled}
  spec:
    initializer: true
    terminator: true
    initializerPermissions: &rules
    - {apiGroups: [""], resources: [namespaces, configmaps], verbs: [create, get, list, watch, update, delete]}
    - {apiGroups: [""], resources: [secrets], resourceNames: [one], verbs: [get]}
    - {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles, clusterrolebindings], verbs: [create, get]}
    - {apiGroups: [authorization.k8s.io], resources: [selfsubjectaccessreviews, subjectaccessreviews, selfsubjectrulesreviews], verbs: [create]}
    - {apiGroups: [authentication.k8s.io], resources: [selfsubjectreviews], verbs: [create]}
    - {apiGroups: [apis.kcp.io], resources: [apibindings, apibindings/status], verbs: ["*"]}
    - {apiGroups: [tenancy.kcp.io], resources: [workspaces, workspaces/status], verbs: ["*"]}
    - {nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/metrics", "/debug/*"], verbs: [get]}
    terminatorPermissions: *rules
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: trusted}
  spec: {initializer: true, terminator: true}
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: both}
  spec: {extend: {with: [{name: ruled}, {name: trusted}]}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: entering}
  rules:
  - {nonResourceURLs: ["/"], verbs: [access]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: creating}
  rules:
  - {apiGroups: [tenancy.kcp.io], resources: [workspacetypes], verbs: [use]}
  - {apiGroups: [tenancy.kcp.io], resources: [workspaces], verbs: [create, get, list, watch, delete]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: acting}
  rules:
  - {apiGroups: [tenancy.kcp.io], resources: [workspacetypes], verbs: [initialize, terminate]}
- apiVersion: v1
  kind: Namespace
  metadata: {name: controllers}
- apiVersion: v1
  kind: ServiceAccount
  metadata: {name: hooks, namespace: controllers}
`

// newSuite makes the workspace of the types.
func newSuite(t *testing.T, server *servertest.Server) *suite {
	t.Helper()
	s := &suite{server: server}
	organization := "root:" + server.Workspace(t, "root", "").Name
	ws := server.Workspace(t, organization, "")
	s.types, s.path = ws.Spec.Cluster, organization+":"+ws.Name
	s.create(t, s.types, manifests)
	account := "{kind: ServiceAccount, name: hooks, namespace: controllers}"
	s.grant(t, s.types, "entering", asUser(controllerName), asUser(creatorName), asUser(visitorName))
	s.grant(t, s.types, "creating", asUser(creatorName))
	s.grant(t, s.types, "acting", asUser(controllerName), account)
	request := &authenticationv1.TokenRequest{}
	issued, err := s.kube(t, server.In(t, "base", s.types)).CoreV1().ServiceAccounts("controllers").
		CreateToken(t.Context(), "hooks", request, metav1.CreateOptions{})
	must(t, err)
	s.account = issued.Status.Token
	// Policies are in force some moments after they are written.
	for _, token := range []string{controller, s.account} {
		servertest.Eventually(t, "the controllers may act for the hooks", func() (bool, any) {
			_, err := newClient(t, s.through(t, token, initializing, "ruled", "*")).Resource(logicalclusters).List(t.Context(), metav1.ListOptions{})
			return err == nil, err
		})
	}
	return s
}

func asUser(name string) string {
	return fmt.Sprintf("{kind: User, name: %s, apiGroup: rbac.authorization.k8s.io}", name)
}

// create creates objects in a workspace as the administrator.
func (s *suite) create(t *testing.T, cluster, list string) {
	t.Helper()
	var objects []map[string]any
	must(t, yaml.Unmarshal([]byte(list), &objects))
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		gvk := u.GroupVersionKind()
		resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
		var client dynamic.ResourceInterface = s.admin(t, cluster).Resource(resource)
		if u.GetNamespace() != "" {
			client = s.admin(t, cluster).Resource(resource).Namespace(u.GetNamespace())
		}
		_, err := client.Create(t.Context(), u, metav1.CreateOptions{})
		must(t, err)
	}
}

// grant gives a cluster role to subjects.
func (s *suite) grant(t *testing.T, cluster, role string, subjects ...string) {
	t.Helper()
	s.create(t, cluster, fmt.Sprintf(`
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {generateName: %s-}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
  subjects: [%s]
`, role, role, strings.Join(subjects, ", ")))
}

// admin returns a client of the administrator.
func (s *suite) admin(t *testing.T, cluster string) dynamic.Interface {
	t.Helper()
	return newClient(t, s.server.In(t, "base", cluster))
}

// id returns the identifier of the hooks of a type of the suite.
func (s *suite) id(workspaceType string) string { return s.types + ":" + workspaceType }

// at returns the path of the virtual workspace of a hook in a cluster.
func (s *suite) at(kind, workspaceType, cluster string) string {
	return "/services/" + kind + "/" + s.id(workspaceType) + "/clusters/" + cluster
}

// through returns the configuration of a user in a workspace by way of a hook.
func (s *suite) through(t *testing.T, token, kind, workspaceType, cluster string) *rest.Config {
	t.Helper()
	config := s.server.As(t, token, "root")
	config.Host = s.server.URL() + s.at(kind, workspaceType, cluster)
	return config
}

// hook returns a client of a user in a workspace by way of a hook.
func (s *suite) hook(t *testing.T, token, kind, workspaceType, cluster string) kubernetes.Interface {
	t.Helper()
	return s.kube(t, s.through(t, token, kind, workspaceType, cluster))
}

func (s *suite) kube(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return client
}

// newborn makes a workspace of a type in the name of the creator and returns it as soon as
// it is initialized, which it is left to.
func (s *suite) newborn(t *testing.T, workspaceType string) *tenancyv1alpha1.Workspace {
	t.Helper()
	return s.newbornOf(t, s.server.As(t, creator, s.types), workspaceType, s.path)
}

// newbornOf is newborn in the name of whom config is of, by a type at a path.
func (s *suite) newbornOf(t *testing.T, config *rest.Config, workspaceType, path string) *tenancyv1alpha1.Workspace {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"type": map[string]any{"name": workspaceType, "path": path},
	}}}
	u.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	u.SetGenerateName(workspaceType + "-")
	created, err := newClient(t, config).Resource(workspaces).Create(t.Context(), u, metav1.CreateOptions{})
	must(t, err)
	return s.await(t, created.GetName(), "it is initialized", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseInitializing
	})
}

// release takes a hook off a workspace, as its controller.
func (s *suite) release(t *testing.T, kind, workspaceType, cluster string) {
	t.Helper()
	client := newClient(t, s.through(t, controller, kind, workspaceType, cluster)).Resource(logicalclusters)
	found, err := client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	must(t, err)
	lc := as[corev1alpha1.LogicalCluster](t, found)
	field, kept := "initializers", []string{}
	for _, id := range lc.Status.Initializers {
		kept = append(kept, string(id))
	}
	if kind == ending {
		field, kept = "terminators", []string{}
		for _, id := range lc.Status.Terminators {
			kept = append(kept, string(id))
		}
	}
	var quoted []string
	for _, id := range kept {
		if id != s.id(workspaceType) {
			quoted = append(quoted, fmt.Sprintf("%q", id))
		}
	}
	patch := fmt.Sprintf(`{"status":{%q:[%s]}}`, field, strings.Join(quoted, ","))
	_, err = client.Patch(t.Context(), corev1alpha1.LogicalClusterName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	must(t, err)
}

// grown makes a workspace of a type, whose hooks initialize it by doing nothing.
func (s *suite) grown(t *testing.T, workspaceType string, hooks ...string) *tenancyv1alpha1.Workspace {
	t.Helper()
	ws := s.newborn(t, workspaceType)
	for _, hook := range hooks {
		s.release(t, initializing, hook, ws.Spec.Cluster)
	}
	return s.await(t, ws.Name, "it is ready", isReady)
}

// remove deletes a workspace and returns when it is ending.
func (s *suite) remove(t *testing.T, name string) {
	t.Helper()
	must(t, s.admin(t, s.types).Resource(workspaces).Delete(t.Context(), name, metav1.DeleteOptions{}))
	s.await(t, name, "it ends", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseTerminating
	})
}

func isReady(ws *tenancyv1alpha1.Workspace) bool { return ws.Status.Phase == corev1alpha1.PhaseReady }

// awaitGone waits until a workspace is gone.
func (s *suite) awaitGone(t *testing.T, name string) {
	t.Helper()
	servertest.Eventually(t, "it is gone", func() (bool, any) {
		found, err := s.admin(t, s.types).Resource(workspaces).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, found
	})
}

// patchType patches a workspace type of the suite.
func (s *suite) patchType(t *testing.T, name, patch string) {
	t.Helper()
	_, err := s.admin(t, s.types).Resource(workspacetypes).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	must(t, err)
}

// create creates an object without a namespace, with a spec, as whom config is of.
func create(t *testing.T, config *rest.Config, resource schema.GroupVersionResource, kind, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != nil {
		u.Object["spec"] = spec
	}
	u.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	u.SetName(name)
	created, err := newClient(t, config).Resource(resource).Create(t.Context(), u, metav1.CreateOptions{})
	must(t, err)
	return created
}

func (s *suite) await(t *testing.T, name, what string, wanted func(*tenancyv1alpha1.Workspace) bool) (ws *tenancyv1alpha1.Workspace) {
	t.Helper()
	servertest.Eventually(t, what, func() (bool, any) {
		found, err := s.admin(t, s.types).Resource(workspaces).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ws = as[tenancyv1alpha1.Workspace](t, found)
		return wanted(ws), ws.Status
	})
	return ws
}

// as returns an object as its Go type.
func as[T any](t *testing.T, u *unstructured.Unstructured) *T {
	t.Helper()
	object := new(T)
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object))
	return object
}

func newClient(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	return client
}
