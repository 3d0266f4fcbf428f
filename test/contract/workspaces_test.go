package contract

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/tenancy/owners"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var workspaceBehavior = map[string]behavior{
	"DefaultTypeInOrganization": {"row 1: what is created without a type has the parent's default in the answer", defaultTypeInOrganization},
	"DefaultTypeInRoot":         {"row 2: root's children are organizations", defaultTypeInRoot},
	"Ready":                     {"a workspace becomes ready, with cluster and URL, and waits for nobody", becomesReady},
	"LogicalCluster":            {"a logical cluster is found by path and by name, and says whose it is", describesItself},
	"CreatorIsKept":             {"who created a workspace cannot be changed by its admin", creatorIsKept},
	"OwnerCannotBeForged":       {"nobody can create a workspace in the name of somebody else", ownerCannotBeForged},
	"CreatorIsAdmin":            {"the creator is admin of a workspace, and admins of the parent are not", creatorIsAdmin},
	"AdminBindingComesBack":     {"a creator cannot lock himself out", adminBindingComesBack},
	"SystemSetsPlace":           {"users set neither cluster nor URL", systemSetsPlace},
	"Immutable":                 {"type and URL of a workspace do not change", immutable},
	"StatusIsTheSystems":        {"admins of a workspace do not write the status of its children", statusIsTheSystems},
	"Table":                     {"kubectl get shows what the documentation shows", workspaceTable},
	"Recreated":                 {"a workspace of an old name is a new one", recreated},
	"RootIsOpen":                {"row 70: everybody may look around in root, and not create there", rootIsOpen},
}

func defaultTypeInOrganization(t *testing.T, s *suite) {
	ws, err := s.as(t, alice, s.organization(t, aliceName)).create()
	ok(t, err)
	if diff := cmp.Diff(&tenancyv1alpha1.WorkspaceTypeReference{Name: "universal", Path: "root"}, ws.Spec.Type); diff != "" {
		t.Error(diff)
	}
}

func defaultTypeInRoot(t *testing.T, s *suite) {
	ws, err := s.as(t, s.admin, "root").create()
	ok(t, err)
	if diff := cmp.Diff(&tenancyv1alpha1.WorkspaceTypeReference{Name: "organization", Path: "root"}, ws.Spec.Type); diff != "" {
		t.Error(diff)
	}
}

var generatedCluster = regexp.MustCompile(`^[0-9a-z]{16}$`)

func becomesReady(t *testing.T, s *suite) {
	parent := s.organization(t, aliceName)
	inParent := s.as(t, alice, parent)
	ws := inParent.workspace()
	if len(ws.Status.Initializers) != 0 {
		t.Errorf("initializers %v", ws.Status.Initializers)
	}
	if !generatedCluster.MatchString(ws.Spec.Cluster) {
		t.Errorf("spec.cluster is %q", ws.Spec.Cluster)
	}
	if want := "/clusters/" + parent + ":" + ws.Name; !strings.HasSuffix(ws.Spec.URL, want) {
		t.Errorf("spec.URL is %q, want one that ends in %s", ws.Spec.URL, want)
	}
	eventually(t, "the phase is a label", func() error {
		ws, err := inParent.workspaces().Get(t.Context(), ws.Name, metav1.GetOptions{})
		if err == nil && ws.Labels[tenancyv1alpha1.PhaseLabelKey] != string(corev1alpha1.PhaseReady) {
			err = fmt.Errorf("labels %v", ws.Labels)
		}
		return err
	})
}

func describesItself(t *testing.T, s *suite) {
	parent := s.organization(t, aliceName)
	ws := s.as(t, alice, parent).workspace()
	path := parent + ":" + ws.Name
	byPath, byName := s.as(t, alice, path).cluster(), s.as(t, alice, ws.Spec.Cluster).cluster()
	if diff := cmp.Diff(byPath, byName); diff != "" {
		t.Errorf("by path and by name: %s", diff)
	}
	if want := "/clusters/" + ws.Spec.Cluster; !strings.HasSuffix(byPath.Status.URL, want) {
		t.Errorf("status.URL is %q, want one that ends in %s", byPath.Status.URL, want)
	}
	if got := byPath.Annotations["kcp.io/path"]; got != path {
		t.Errorf("the path is %q, want %q", got, path)
	}
	want := &corev1alpha1.LogicalClusterOwner{
		APIVersion: "tenancy.kcp.io/v1alpha1", Resource: "workspaces", Name: ws.Name, UID: ws.UID,
		Cluster: s.as(t, s.admin, parent).cluster().Annotations["kcp.io/cluster"],
	}
	if diff := cmp.Diff(want, byPath.Spec.Owner); diff != "" {
		t.Error(diff)
	}
}

func creatorIsKept(t *testing.T, s *suite) {
	parent := s.organization(t, aliceName)
	ws := s.as(t, alice, parent).workspace()
	inside := s.as(t, alice, parent+":"+ws.Name)
	if by := inside.cluster().Spec.CreatedBy; by == nil || by.Username != aliceName {
		t.Errorf("created by %v", by)
	}
	_, err := inside.patchCluster(`{"spec":{"createdBy":{"username":"user-2"}}}`)
	refused(t, err, 403, "createdBy")
}

func ownerCannotBeForged(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.organization(t, aliceName))
	created, err := parent.create(func(ws *tenancyv1alpha1.Workspace) {
		ws.Annotations = map[string]string{tenancyv1alpha1.OwnerAnnotationKey: `{"username":"user-2","groups":["system:masters"]}`}
	})
	ok(t, err)
	owner, err := owners.Decode(created.Annotations[tenancyv1alpha1.OwnerAnnotationKey])
	ok(t, err)
	if owner.Username != aliceName {
		t.Errorf("the owner of a new workspace is %v", owner)
	}
	parent.ready(created.Name)
	eventually(t, "the owner is a name only", func() error {
		ws, err := parent.workspaces().Get(t.Context(), created.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		owner, err := owners.Decode(ws.Annotations[tenancyv1alpha1.OwnerAnnotationKey])
		if err != nil {
			return err
		}
		if diff := cmp.Diff(&authenticationv1.UserInfo{Username: aliceName}, owner); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

func creatorIsAdmin(t *testing.T, s *suite) {
	parent := s.organization(t, aliceName, bobName)
	path := parent + ":" + s.as(t, alice, parent).workspace().Name
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	_, err := s.as(t, alice, path).kube().CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	ok(t, err)
	_, err = s.as(t, bob, path).kube().CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	refused(t, err, 403, "access denied")
}

func adminBindingComesBack(t *testing.T, s *suite) {
	parent := s.organization(t, aliceName)
	path := parent + ":" + s.as(t, alice, parent).workspace().Name
	bindings := s.as(t, alice, path).kube().RbacV1().ClusterRoleBindings()
	before, err := bindings.Get(t.Context(), "workspace-admin", metav1.GetOptions{})
	ok(t, err)
	if diff := cmp.Diff([]rbacv1.Subject{user(aliceName)}, before.Subjects); diff != "" {
		t.Error(diff)
	}
	if before.RoleRef.Name != "cluster-admin" {
		t.Errorf("the role is %s", before.RoleRef.Name)
	}
	ok(t, bindings.Delete(t.Context(), "workspace-admin", metav1.DeleteOptions{}))
	eventually(t, "the binding comes back", func() error {
		after, err := bindings.Get(t.Context(), "workspace-admin", metav1.GetOptions{})
		if err == nil && after.UID == before.UID {
			err = errors.New("it is the old one")
		}
		return err
	})
}

func systemSetsPlace(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.organization(t, aliceName))
	_, err := parent.create(func(ws *tenancyv1alpha1.Workspace) { ws.Spec.Cluster = "0123456789abcdef" })
	refused(t, err, 403, "spec.cluster")
	_, err = parent.create(func(ws *tenancyv1alpha1.Workspace) { ws.Spec.URL = "https://example.com" })
	refused(t, err, 403, "spec.URL")
}

func immutable(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.organization(t, aliceName))
	ws := parent.workspace()
	patch := func(body string) error {
		_, err := parent.workspaces().Patch(t.Context(), ws.Name, apitypes.MergePatchType, []byte(body), metav1.PatchOptions{})
		return err
	}
	refused(t, patch(`{"spec":{"type":{"name":"team"}}}`), 422, "immutable")
	refused(t, patch(`{"spec":{"cluster":"0123456789abcdef"}}`), 422, "immutable")
	refused(t, patch(`{"spec":{"URL":"https://example.com"}}`), 403, "spec.URL")
}

func statusIsTheSystems(t *testing.T, s *suite) {
	path := s.organization(t, aliceName)
	ws := s.as(t, alice, path).workspace()
	patch := func(token string) error {
		body := `{"status":{"conditions":[{"type":"Tested","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
		_, err := s.as(t, token, path).workspaces().Patch(t.Context(), ws.Name, apitypes.MergePatchType, []byte(body), metav1.PatchOptions{}, "status")
		return err
	}
	refused(t, patch(alice), 403)
	ok(t, patch(s.admin))
}

func workspaceTable(t *testing.T, s *suite) {
	table := read[metav1.Table](t, s.as(t, alice, "root").get("/apis/tenancy.kcp.io/v1alpha1/workspaces", acceptTable))
	if diff := cmp.Diff([]string{"Name", "Type", "Region", "Phase", "URL", "Age"}, columns(table)); diff != "" {
		t.Error(diff)
	}
}

// acceptTable asks for what kubectl get shows.
const acceptTable = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"

func columns(table metav1.Table) []string {
	var names []string
	for _, column := range table.ColumnDefinitions {
		names = append(names, column.Name)
	}
	return names
}

func recreated(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.organization(t, aliceName))
	before := parent.workspace(named("again"))
	ok(t, parent.workspaces().Delete(t.Context(), "again", metav1.DeleteOptions{}))
	parent.gone("again")
	if after := parent.workspace(named("again")); after.Spec.Cluster == before.Spec.Cluster {
		t.Errorf("both are %s", after.Spec.Cluster)
	}
}

func rootIsOpen(t *testing.T, s *suite) {
	root := s.as(t, carol, "root")
	_, err := root.workspaces().List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	_, err = root.types().List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	_, err = root.create()
	refused(t, err, 403)
}
