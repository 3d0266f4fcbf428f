package rbac

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// policy is a list of objects by what they are called.
type policy struct {
	clusterRoles    map[string]*rbacv1.ClusterRole
	clusterBindings map[string]*rbacv1.ClusterRoleBinding
	names           []string
}

func read(t *testing.T, objects []Object) policy {
	t.Helper()
	p := policy{clusterRoles: map[string]*rbacv1.ClusterRole{}, clusterBindings: map[string]*rbacv1.ClusterRoleBinding{}}
	for _, object := range objects {
		switch o := object.(type) {
		case *rbacv1.ClusterRole:
			p.clusterRoles[o.Name] = o
			p.names = append(p.names, "ClusterRole "+o.Name)
		case *rbacv1.ClusterRoleBinding:
			p.clusterBindings[o.Name] = o
			p.names = append(p.names, "ClusterRoleBinding "+o.Name)
		default:
			p.names = append(p.names, object.GetNamespace()+"/"+object.GetName())
		}
	}
	return p
}

func TestNamesAreUnique(t *testing.T) {
	for name, objects := range map[string][]Object{"system:admin": SystemAdmin(), "root": Root(RootOptions{})} {
		seen := map[string]bool{}
		for _, object := range objects {
			key := object.GetNamespace() + "/" + object.GetName()
			switch object.(type) {
			case *rbacv1.ClusterRole, *rbacv1.Role:
				key = "role " + key
			}
			if seen[key] {
				t.Errorf("%s has two of %s", name, key)
			}
			seen[key] = true
		}
	}
}

func TestBindingsReferToRoles(t *testing.T) {
	global, root := read(t, SystemAdmin()), read(t, Root(RootOptions{}))
	for _, p := range []policy{global, root} {
		for name, binding := range p.clusterBindings {
			_, inRoot := p.clusterRoles[binding.RoleRef.Name]
			_, inGlobal := global.clusterRoles[binding.RoleRef.Name]
			if !inRoot && !inGlobal {
				t.Errorf("binding %s refers to the role %s, which is nowhere", name, binding.RoleRef.Name)
			}
		}
	}
	if _, ok := global.clusterRoles[WorkspaceAdmin("alice").RoleRef.Name]; !ok {
		t.Error("so must the binding of workspace admins")
	}
}

func TestAggregatedRoles(t *testing.T) {
	roles := read(t, SystemAdmin()).clusterRoles
	for _, tc := range []struct{ reason, role, verb, resource string }{
		{"view gathers what is marked for it", "view", "get", "configmaps"},
		{"edit has what view has", "edit", "get", "configmaps"},
		{"edit gathers what is marked for it", "edit", "create", "configmaps"},
		{"admin has what edit has", "admin", "create", "configmaps"},
		{"admin gathers what is marked for it", "admin", "create", "rolebindings"},
	} {
		if !slices.ContainsFunc(roles[tc.role].Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Verbs, tc.verb) && slices.Contains(rule.Resources, tc.resource)
		}) {
			t.Errorf("%s: %s does not %s %s", tc.reason, tc.role, tc.verb, tc.resource)
		}
	}
	if slices.ContainsFunc(roles["view"].Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.Verbs, "create")
	}) {
		t.Error("view must not create anything")
	}
}

func TestBootstrapMarks(t *testing.T) {
	for name, role := range read(t, SystemAdmin()).clusterRoles {
		if role.Labels["kubernetes.io/bootstrapping"] != "rbac-defaults" || role.Annotations[rbacv1.AutoUpdateAnnotationKey] != "true" {
			t.Errorf("%s is not marked as a role of the server", name)
		}
	}
}

func TestCallersOwnObjects(t *testing.T) {
	for _, object := range SystemAdmin() {
		object.SetName("changed")
	}
	for _, object := range SystemAdmin() {
		if object.GetName() == "changed" {
			t.Fatal("a change by one caller must not show with the next")
		}
	}
}

func TestRoot(t *testing.T) {
	got := read(t, Root(RootOptions{HomeCreatorGroups: []string{"a", "b"}}))
	want := []string{
		"ClusterRole system:kcp:apiexport:tenancy:bind",
		"ClusterRole system:kcp:apiexport:topology:bind",
		"ClusterRole system:kcp:apiexport:tenancy:maximal-permission-policy",
		"ClusterRole system:kcp:apiexport:topology:maximal-permission-policy",
		"ClusterRole system:kcp:apiexport:kcp-admin:maximal-permission-policy",
		"ClusterRole system:kcp:home-clusterworkspace-create",
		"ClusterRole system:kcp:universal-workspacetype-use",
		"ClusterRoleBinding system:kcp:tenancy:authenticated:access",
		"ClusterRoleBinding system:kcp:authenticated:tenancy:reader",
		"ClusterRoleBinding system:kcp:authenticated:universal-workspacetype-use",
		"ClusterRoleBinding system:kcp:authenticated:apiexport:tenancy:bind",
		"ClusterRoleBinding system:kcp:authenticated:apiexport:topology:bind",
		"ClusterRoleBinding system:kcp:authenticated:apiexport:tenancy:maximal-permission-policy",
		"ClusterRoleBinding system:kcp:authenticated:apiexport:topology:maximal-permission-policy",
		"ClusterRoleBinding system:kcp:authenticated:apiexport:kcp-admin:maximal-permission-policy",
		"ClusterRoleBinding system:kcp:configured-group:home-clusterworkspace-create",
	}
	if diff := cmp.Diff(want, got.names); diff != "" {
		t.Errorf("objects of root (-want +got):\n%s", diff)
	}
	creators := got.clusterBindings["system:kcp:configured-group:home-clusterworkspace-create"].Subjects
	if len(creators) != 2 || creators[0].Name != "a" || creators[1].Name != "b" {
		t.Errorf("each of the groups may have homes made: got %v", creators)
	}
	for _, binding := range got.clusterBindings {
		for _, subject := range binding.Subjects {
			if subject.Name == user.AllUnauthenticated || subject.Name == user.Anonymous {
				t.Errorf("root is not for the anonymous, but %s says otherwise", binding.Name)
			}
		}
	}
}
