package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Users, by token. All but the stranger have access to the workspace of the types.
const (
	// first is the controller of the hooks of type first, second of those of second.
	first, second = "user-1-token", "user-2-token"
	// visitor may not act as any hook.
	visitor = "user-3-token"
	// stranger has nothing to do with anything here.
	stranger = "user-5-token"
	// master is beyond authorization.
	master = "admin-token"
)

// The kinds of hooks, as URLs have them.
const (
	initializing = "initializingworkspaces"
	ending       = "terminatingworkspaces"
)

// everywhere are all logical clusters.
const everywhere = "*"

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
}

// manifests are the types, and who may act as their hooks.
const manifests = `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: first}
  spec: {initializer: true, terminator: true}
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: second}
  spec: {initializer: true, terminator: true}
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: both}
  spec: {extend: {with: [{name: first}, {name: second}]}}
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: starting}
  spec: {initializer: true}
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: plain}
  spec: {}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: entering}
  rules:
  - {nonResourceURLs: ["/"], verbs: [access]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: first}
  rules:
  - {apiGroups: [tenancy.kcp.io], resources: [workspacetypes], resourceNames: [first, starting, former, nobody], verbs: [initialize, terminate]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: second}
  rules:
  - {apiGroups: [tenancy.kcp.io], resources: [workspacetypes], resourceNames: [second], verbs: [initialize, terminate]}
`

// prepare makes the workspace of the types.
func (s *suite) prepare(t testing.TB) {
	// Organizations may only have universal workspaces in them.
	organization := "root:" + s.server.Workspace(t, "root", "").Name
	ws := s.server.Workspace(t, organization, "")
	s.types, s.path = ws.Spec.Cluster, organization+":"+ws.Name
	s.create(t, s.types, manifests)
	s.grant(t, s.types, "entering", "user-1", "user-2", "user-3")
	s.grant(t, s.types, "first", "user-1")
	s.grant(t, s.types, "second", "user-2")
	// Policies are in force some moments after they are written.
	for token, hook := range map[string]string{first: "first", second: "second"} {
		servertest.Eventually(t, "the controller of "+hook+" may act as its hooks", func() (bool, any) {
			_, err := s.all(t, token, initializing, hook).List(t.Context(), metav1.ListOptions{})
			return err == nil, err
		})
	}
}

// create creates objects in a workspace as the administrator.
func (s *suite) create(t testing.TB, cluster, list string) {
	t.Helper()
	var objects []map[string]any
	must(t, yaml.Unmarshal([]byte(list), &objects))
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		gvk := u.GroupVersionKind()
		resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
		_, err := s.admin(t, cluster).Resource(resource).Create(t.Context(), u, metav1.CreateOptions{})
		must(t, err)
	}
}

// grant gives a cluster role to users.
func (s *suite) grant(t testing.TB, cluster, role string, users ...string) {
	t.Helper()
	var subjects []string
	for _, user := range users {
		subjects = append(subjects, fmt.Sprintf("{kind: User, name: %s, apiGroup: rbac.authorization.k8s.io}", user))
	}
	s.create(t, cluster, fmt.Sprintf(`
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {generateName: %s-}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
  subjects: [%s]
`, role, role, strings.Join(subjects, ", ")))
}

// admin returns a client of the administrator.
func (s *suite) admin(t testing.TB, cluster string) dynamic.Interface {
	t.Helper()
	return newClient(t, s.server.In(t, "base", cluster))
}

// id returns the identifier of the hooks of a type of the suite.
func (s *suite) id(hook string) string { return s.types + ":" + hook }

// at returns the path of the virtual workspace of a hook.
func (s *suite) at(kind, hook, cluster string) string {
	return "/services/" + kind + "/" + s.id(hook) + "/clusters/" + cluster
}

// config returns the configuration of a user in the virtual workspace of a hook.
func (s *suite) config(t testing.TB, token, kind, hook, cluster string) *rest.Config {
	t.Helper()
	config := s.server.As(t, token, "root")
	config.Host = s.server.URL() + s.at(kind, hook, cluster)
	return config
}

// all returns a client of the logical clusters that wait for a hook.
func (s *suite) all(t testing.TB, token, kind, hook string) dynamic.ResourceInterface {
	t.Helper()
	return s.one(t, token, kind, hook, everywhere)
}

// one returns such a client for a single logical cluster.
func (s *suite) one(t testing.TB, token, kind, hook, cluster string) dynamic.ResourceInterface {
	t.Helper()
	return newClient(t, s.config(t, token, kind, hook, cluster)).Resource(logicalclusters)
}

// conceive makes a workspace of a type and returns its name.
func (s *suite) conceive(t testing.TB, workspaceType string) string {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"type": map[string]any{"name": workspaceType, "path": s.path},
	}}}
	u.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	u.SetGenerateName(workspaceType + "-")
	created, err := s.admin(t, s.types).Resource(workspaces).Create(t.Context(), u, metav1.CreateOptions{})
	must(t, err)
	return created.GetName()
}

// newborn makes a workspace of a type and returns it as soon as it waits for initializers.
func (s *suite) newborn(t testing.TB, workspaceType string) *tenancyv1alpha1.Workspace {
	t.Helper()
	return s.awaitWorkspace(t, s.conceive(t, workspaceType), "it is initialized", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseInitializing
	})
}

// grown makes a workspace of a type and takes away its initializers.
func (s *suite) grown(t testing.TB, workspaceType string) *tenancyv1alpha1.Workspace {
	t.Helper()
	ws := s.newborn(t, workspaceType)
	_, err := s.admin(t, ws.Spec.Cluster).Resource(logicalclusters).Patch(t.Context(), corev1alpha1.LogicalClusterName, mergePatch,
		[]byte(`{"status":{"initializers":[]}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	return s.awaitReady(t, ws.Name)
}

// dying makes a workspace of a type, and deletes it when it is ready.
func (s *suite) dying(t testing.TB, workspaceType string) *tenancyv1alpha1.Workspace {
	t.Helper()
	ws := s.grown(t, workspaceType)
	s.remove(t, ws.Name)
	return s.awaitTerminating(t, ws.Name)
}

// awaitTerminating waits until a workspace ends as its logical cluster does.
func (s *suite) awaitTerminating(t testing.TB, name string) *tenancyv1alpha1.Workspace {
	t.Helper()
	return s.awaitWorkspace(t, name, "it ends", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseTerminating
	})
}

// remove deletes a workspace.
func (s *suite) remove(t testing.TB, name string) {
	t.Helper()
	must(t, s.admin(t, s.types).Resource(workspaces).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func (s *suite) awaitReady(t testing.TB, name string) *tenancyv1alpha1.Workspace {
	t.Helper()
	return s.awaitWorkspace(t, name, "it is ready", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseReady
	})
}

func (s *suite) awaitWorkspace(t testing.TB, name, what string, wanted func(*tenancyv1alpha1.Workspace) bool) (ws *tenancyv1alpha1.Workspace) {
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

// awaitGone waits until a workspace is gone.
func (s *suite) awaitGone(t testing.TB, name string) {
	t.Helper()
	servertest.Eventually(t, "it is gone", func() (bool, any) {
		_, err := s.admin(t, s.types).Resource(workspaces).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

// logicalCluster returns the LogicalCluster of a cluster.
func (s *suite) logicalCluster(t testing.TB, cluster string) *corev1alpha1.LogicalCluster {
	t.Helper()
	found, err := s.admin(t, cluster).Resource(logicalclusters).Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	must(t, err)
	return as[corev1alpha1.LogicalCluster](t, found)
}

// as returns an object as its Go type.
func as[T any](t testing.TB, u *unstructured.Unstructured) *T {
	t.Helper()
	object := new(T)
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object))
	return object
}

func newClient(t testing.TB, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	return client
}
