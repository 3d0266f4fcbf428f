package contract

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Users of servertest, by token and by name.
const (
	alice, aliceName = "user-1-token", "user-1"
	bob, bobName     = "user-2-token", "user-2"
	carol, carolName = "user-3-token", "user-3"
)

// change makes a new Workspace another one.
type change func(*tenancyv1alpha1.Workspace)

// named gives it a name in place of one of the server's.
func named(name string) change {
	return func(ws *tenancyv1alpha1.Workspace) { ws.GenerateName, ws.Name = "", name }
}

// ofType gives it a type.
func ofType(path, name string) change {
	return func(ws *tenancyv1alpha1.Workspace) {
		ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Path: path, Name: name}
	}
}

// newWorkspace returns a Workspace to be created.
func newWorkspace(changes ...change) *tenancyv1alpha1.Workspace {
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ws-"}}
	for _, change := range changes {
		change(ws)
	}
	return ws
}

// create creates a Workspace.
func (c caller) create(changes ...change) (*tenancyv1alpha1.Workspace, error) {
	c.t.Helper()
	return c.workspaces().Create(c.t.Context(), newWorkspace(changes...), metav1.CreateOptions{})
}

// workspace creates a Workspace and returns it when it is ready.
func (c caller) workspace(changes ...change) *tenancyv1alpha1.Workspace {
	c.t.Helper()
	ws, err := c.create(changes...)
	ok(c.t, err)
	return c.ready(ws.Name)
}

// ready waits until a Workspace is ready.
func (c caller) ready(name string) *tenancyv1alpha1.Workspace {
	c.t.Helper()
	var ws *tenancyv1alpha1.Workspace
	eventually(c.t, "workspace "+name+" becomes ready", func() (err error) {
		if ws, err = c.workspaces().Get(c.t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		if ws.Status.Phase != corev1alpha1.PhaseReady {
			return fmt.Errorf("phase %s, %v", ws.Status.Phase, ws.Status.Conditions)
		}
		return nil
	})
	return ws
}

// gone waits until a Workspace is no more.
func (c caller) gone(name string) {
	c.t.Helper()
	eventually(c.t, "workspace "+name+" goes", func() error {
		ws, err := c.workspaces().Get(c.t.Context(), name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return fmt.Errorf("phase %s, finalizers %v, %v", ws.Status.Phase, ws.Finalizers, ws.Status.Conditions)
		}
	})
}

// organization makes an organization below root and its administrators.
func (s *suite) organization(t *testing.T, admins ...string) string {
	t.Helper()
	return s.below(t, ofType("root", "organization"), admins)
}

// universal makes a universal workspace below root, which takes children of any type.
func (s *suite) universal(t *testing.T, admins ...string) string {
	t.Helper()
	return s.below(t, ofType("root", "universal"), admins)
}

func (s *suite) below(t *testing.T, of change, admins []string) string {
	t.Helper()
	path := "root:" + s.as(t, s.admin, "root").workspace(of).Name
	for _, name := range admins {
		s.as(t, s.admin, path).bind("cluster-admin", user(name))
	}
	return path
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

// bind gives somebody a ClusterRole.
func (c caller) bind(role string, subject rbacv1.Subject) {
	c.t.Helper()
	_, err := c.kube().RbacV1().ClusterRoleBindings().Create(c.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{subject},
	}, metav1.CreateOptions{})
	ok(c.t, err)
}

// allow makes a ClusterRole with a rule and gives it to somebody.
func (c caller) allow(subject rbacv1.Subject, rules ...rbacv1.PolicyRule) {
	c.t.Helper()
	role, err := c.kube().RbacV1().ClusterRoles().Create(c.t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}, Rules: rules,
	}, metav1.CreateOptions{})
	ok(c.t, err)
	c.bind(role.Name, subject)
}

// accessRule is what lets somebody into a workspace.
var accessRule = rbacv1.PolicyRule{Verbs: []string{"access"}, NonResourceURLs: []string{"/"}}

// useRule is what lets somebody create workspaces of a type.
func useRule(name string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"use"}, APIGroups: []string{tenancyv1alpha1.GroupName}, Resources: []string{"workspacetypes"}, ResourceNames: []string{name}}
}

// cluster returns the LogicalCluster of the caller's workspace.
func (c caller) cluster() *corev1alpha1.LogicalCluster {
	c.t.Helper()
	lc, err := c.clusters().Get(c.t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
	ok(c.t, err)
	return lc
}

// patchCluster changes the LogicalCluster of the caller's workspace.
func (c caller) patchCluster(patch string) (*corev1alpha1.LogicalCluster, error) {
	c.t.Helper()
	return c.clusters().Patch(c.t.Context(), corev1alpha1.LogicalClusterName, apitypes.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

// newType creates a WorkspaceType.
func (c caller) newType(name string, spec tenancyv1alpha1.WorkspaceTypeSpec) (*tenancyv1alpha1.WorkspaceType, error) {
	c.t.Helper()
	return c.types().Create(c.t.Context(), &tenancyv1alpha1.WorkspaceType{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}, metav1.CreateOptions{})
}

// extending is the extension of a type by others.
func extending(types ...tenancyv1alpha1.WorkspaceTypeReference) tenancyv1alpha1.WorkspaceTypeExtension {
	return tenancyv1alpha1.WorkspaceTypeExtension{With: types}
}

// typeUniversal is the type that nearly all build on.
var typeUniversal = tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "universal"}
