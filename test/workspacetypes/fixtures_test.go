package workspacetypes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	workspaces      = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	types           = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")
	logicalClusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	exports         = apisv1alpha2.GroupVersion.WithResource("apiexports")
	bindings        = apisv1alpha2.GroupVersion.WithResource("apibindings")
	roles           = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	roleBindings    = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
)

// Users of servertest: alice has workspaces, and bob only what a test gives to him.
const (
	alice, aliceToken = "user-1", "user-1-token"
	bob, bobToken     = "user-2", "user-2-token"
)

// workspace is a workspace as somebody sees it.
type workspace struct {
	testing.TB
	config  *rest.Config
	client  dynamic.Interface
	path    string
	cluster string
}

func open(t testing.TB, config *rest.Config, path, cluster string) workspace {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{t, config, client, path, cluster}
}

// root returns root as the administrator sees it.
func (s *suite) root(t testing.TB) workspace {
	t.Helper()
	return open(t, s.server.In(t, "base", "root"), "root", "root")
}

// universal makes a workspace below root, as the administrator sees it.
func (s *suite) universal(t testing.TB) workspace {
	t.Helper()
	return s.root(t).below(s, s.root(t).workspace("root", "universal"))
}

// below returns a child as the same kind of user sees it.
func (w workspace) below(s *suite, child tenancyv1alpha1.Workspace) workspace {
	w.Helper()
	config := rest.CopyConfig(w.config)
	config.Host = s.server.URL() + "/clusters/" + child.Spec.Cluster
	return open(w.TB, config, w.path+":"+child.Name, child.Spec.Cluster)
}

// as returns the workspace as the user with a token sees it.
func (w workspace) as(s *suite, token string) workspace {
	w.Helper()
	return open(w.TB, s.server.As(w.TB, token, w.cluster), w.path, w.cluster)
}

// create creates what is written in JSON.
func (w workspace) create(r schema.GroupVersionResource, object string) (*unstructured.Unstructured, error) {
	w.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(object), &u.Object); err != nil {
		w.Fatalf("%s: %v", object, err)
	}
	u.SetAPIVersion(r.GroupVersion().String())
	u.SetKind(map[schema.GroupVersionResource]string{
		workspaces: "Workspace", types: "WorkspaceType", bindings: "APIBinding", exports: "APIExport",
		roles: "ClusterRole", roleBindings: "ClusterRoleBinding",
	}[r])
	return w.client.Resource(r).Create(w.Context(), u, metav1.CreateOptions{})
}

func (w workspace) mustCreate(r schema.GroupVersionResource, object string) *unstructured.Unstructured {
	w.Helper()
	created, err := w.create(r, object)
	if err != nil {
		w.Fatalf("creating %s in %s: %v", object, w.path, err)
	}
	return created
}

func (w workspace) patch(r schema.GroupVersionResource, name, patch string) {
	w.Helper()
	if _, err := w.client.Resource(r).Patch(w.Context(), name, apitypes.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.Fatalf("patching %s %s in %s: %v", r.Resource, name, w.path, err)
	}
}

func (w workspace) delete(r schema.GroupVersionResource, name string) {
	w.Helper()
	if err := w.client.Resource(r).Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatalf("deleting %s %s in %s: %v", r.Resource, name, w.path, err)
	}
}

func get[T any](w workspace, r schema.GroupVersionResource, name string) (obj T, err error) {
	w.Helper()
	u, err := w.client.Resource(r).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		return obj, err
	}
	return into[T](w, u), nil
}

func into[T any](t testing.TB, u *unstructured.Unstructured) (obj T) {
	t.Helper()
	raw, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// newType creates a type with a spec in JSON.
func (w workspace) newType(name, spec string) {
	w.Helper()
	w.mustCreate(types, fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name, spec))
}

// tryWorkspace creates a workspace of a type.
func (w workspace) tryWorkspace(typePath, typeName string) (tenancyv1alpha1.Workspace, error) {
	w.Helper()
	spec := "{}"
	if typeName != "" {
		spec = fmt.Sprintf(`{"type":{"name":%q,"path":%q}}`, typeName, typePath)
	}
	if typePath == "" {
		spec = strings.Replace(spec, `,"path":""`, "", 1)
	}
	created, err := w.create(workspaces, `{"metadata":{"generateName":"ws-"},"spec":`+spec+`}`)
	if err != nil {
		return tenancyv1alpha1.Workspace{}, err
	}
	return into[tenancyv1alpha1.Workspace](w, created), nil
}

// begin creates a workspace of a type and returns it when it has a place.
func (w workspace) begin(typePath, typeName string) tenancyv1alpha1.Workspace {
	w.Helper()
	created, err := w.tryWorkspace(typePath, typeName)
	if err != nil {
		w.Fatalf("creating a workspace of type %s:%s in %s: %v", typePath, typeName, w.path, err)
	}
	return w.until(created.Name, "it has a place", func(ws *tenancyv1alpha1.Workspace) bool { return ws.Spec.Cluster != "" })
}

// workspace creates a workspace of a type and returns it when it is ready.
func (w workspace) workspace(typePath, typeName string) tenancyv1alpha1.Workspace {
	w.Helper()
	return w.ready(w.begin(typePath, typeName).Name)
}

func (w workspace) ready(name string) tenancyv1alpha1.Workspace {
	w.Helper()
	return w.until(name, "it is ready", func(ws *tenancyv1alpha1.Workspace) bool { return ws.Status.Phase == corev1alpha1.PhaseReady })
}

// until waits until a workspace is as wanted.
func (w workspace) until(name, what string, wanted func(*tenancyv1alpha1.Workspace) bool) (ws tenancyv1alpha1.Workspace) {
	w.Helper()
	servertest.Eventually(w, "workspace "+name+": "+what, func() (done bool, seen any) {
		var err error
		if ws, err = get[tenancyv1alpha1.Workspace](w, workspaces, name); err != nil {
			return false, err
		}
		return wanted(&ws), ws.Status
	})
	return ws
}

// allow gives a user a rule in the workspace.
func (w workspace) allow(user, rule string) {
	w.Helper()
	role := w.mustCreate(roles, `{"metadata":{"generateName":"test-"},"rules":[`+rule+`]}`)
	w.bindRole(role.GetName(), `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}`)
}

func (w workspace) bindRole(role, subject string) {
	w.Helper()
	w.mustCreate(roleBindings, fmt.Sprintf(`{"metadata":{"generateName":"test-"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":%q},"subjects":[%s]}`, role, subject))
}

// admin makes a user admin of the workspace.
func (w workspace) admin(user string) {
	w.Helper()
	w.bindRole("cluster-admin", `{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}`)
}

// use is the rule that lets somebody create workspaces of types.
func use(names ...string) string {
	return rule("use", tenancyv1alpha1.GroupName, "workspacetypes", names...)
}

// bind is the rule that lets somebody bind exports.
func bind(names ...string) string {
	return rule("bind", apisv1alpha2.GroupName, "apiexports", names...)
}

func rule(verb, group, resource string, names ...string) string {
	quoted, _ := json.Marshal(names)
	return fmt.Sprintf(`{"verbs":[%q],"apiGroups":[%q],"resources":[%q],"resourceNames":%s}`, verb, group, resource, quoted)
}

// refused fails the test unless err is a Status of that code that says all of words.
func refused(t testing.TB, err error, code int, words ...string) {
	t.Helper()
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || int(status.Status().Code) != code {
		t.Errorf("got %v, want a Status with code %d", err, code)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("got %q, which does not say %q", err, word)
		}
	}
}

// allowed waits until a request is not forbidden: permissions take a moment.
func allowed(t testing.TB, what string, request func() error) {
	t.Helper()
	servertest.Eventually(t, what, func() (bool, any) {
		err := request()
		if err != nil && !apierrors.IsForbidden(err) {
			t.Fatalf("%s: %v", what, err)
		}
		return err == nil, err
	})
}

// cluster returns the LogicalCluster.
func (w workspace) logicalCluster() corev1alpha1.LogicalCluster {
	w.Helper()
	lc, err := get[corev1alpha1.LogicalCluster](w, logicalClusters, corev1alpha1.LogicalClusterName)
	if err != nil {
		w.Fatal(err)
	}
	return lc
}

// says waits until a condition of the LogicalCluster is as wanted.
func (w workspace) says(t conditions.Type, what string, wanted func(conditions.Condition) bool) conditions.Condition {
	w.Helper()
	var condition conditions.Condition
	servertest.Eventually(w, what, func() (bool, any) {
		lc := w.logicalCluster()
		condition, _ = conditions.Get(&lc, t)
		return wanted(condition), lc.Status.Conditions
	})
	return condition
}

// bound returns the bindings of the workspace by the exports that they refer to.
func (w workspace) bound() map[string]apisv1alpha2.APIBinding {
	w.Helper()
	list, err := w.client.Resource(bindings).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]apisv1alpha2.APIBinding{}
	for i := range list.Items {
		b := into[apisv1alpha2.APIBinding](w, &list.Items[i])
		all[b.Spec.Reference.Export.Name] = b
	}
	return all
}

// binds waits until the binding to an export is as wanted.
func (w workspace) binds(export, what string, wanted func(*apisv1alpha2.APIBinding) bool) (b apisv1alpha2.APIBinding) {
	w.Helper()
	servertest.Eventually(w, w.path+": the binding to "+export+": "+what, func() (bool, any) {
		all := w.bound()
		var found bool
		b, found = all[export]
		return found && wanted(&b), slices.Collect(maps.Values(all))
	})
	return b
}

func isBound(b *apisv1alpha2.APIBinding) bool {
	return b.Status.Phase == apisv1alpha2.APIBindingPhaseBound
}
