package hookcontent

import (
	"net/http"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/forkless/kcp/internal/servertest"
)

var escalation = map[string]behavior{
	"Roles":         {"a hook hands out no more than its rules give it", rolesStayBelow},
	"Impersonation": {"38: the headers of a hook's requests make nobody of it", headersAreDropped},
	"SystemStatus":  {"what the server alone writes a hook does not read or write either, whatever its rules", systemStatus},
	"MaximalPolicy": {"what the provider of an API grants at most is the bound of hooks as well", maximalPolicy},
	"References":    {"in other workspaces the caller may refer to what he may himself, and no more", references},
}

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func clusterRoleBinding(role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: controllerName}},
	}
}

func rolesStayBelow(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	rbac := s.hook(t, controller, initializing, "ruled", cluster).RbacV1()

	_, err := rbac.ClusterRoleBindings().Create(t.Context(), clusterRoleBinding("cluster-admin"), metav1.CreateOptions{})
	wantCode(t, err, http.StatusForbidden, "attempting to grant RBAC permissions not currently held")
	_, err = rbac.ClusterRoles().Create(t.Context(), clusterRole("more", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"},
	}), metav1.CreateOptions{})
	wantCode(t, err, http.StatusForbidden, "attempting to grant RBAC permissions not currently held")

	_, err = rbac.ClusterRoles().Create(t.Context(), clusterRole("less", rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"},
	}), metav1.CreateOptions{})
	must(t, err)
	servertest.Eventually(t, "what it has it may hand out", func() (bool, any) {
		_, err := rbac.ClusterRoleBindings().Create(t.Context(), clusterRoleBinding("less"), metav1.CreateOptions{})
		return err == nil, err
	})
}

func headersAreDropped(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	path := s.at(initializing, "ruled", cluster) + "/api/v1/namespaces"
	for _, group := range []string{"system:masters", "system:kcp:initializer:" + s.id("ruled"), "team-2"} {
		got := s.send(t, controller, http.MethodGet, path, "", map[string]string{
			transport.ImpersonateUserHeader: creatorName, transport.ImpersonateGroupHeader: group,
		})
		if got.code != http.StatusForbidden {
			t.Errorf("%s: got %d %s", group, got.code, got.body)
		}
	}
	// An administrator of the workspace of the type may act as its controller. He is then
	// himself there only, which is enough to act for its hooks.
	config := s.through(t, "", initializing, "ruled", cluster)
	admin := s.server.In(t, "base", "root")
	config.BearerToken, config.TLSClientConfig = admin.BearerToken, admin.TLSClientConfig
	config.Impersonate = rest.ImpersonationConfig{UserName: controllerName}
	client := s.kube(t, config)
	if got := whoAmI(t, client); got.Username != controllerName {
		t.Errorf("got %v", got)
	}
	_, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	_, err = client.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "initializerPermissions")
	config.Impersonate.UserName = visitorName
	_, err = s.kube(t, config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "access denied")
}

func systemStatus(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	path := s.at(initializing, "ruled", cluster) + "/apis/apis.kcp.io/v1alpha2/apibindings/x/status"
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		if got := s.send(t, controller, method, path, "{}", nil); got.code != http.StatusForbidden {
			t.Errorf("%s: got %d %s", method, got.code, got.body)
		}
	}
}

func maximalPolicy(t *testing.T, s *suite) {
	s.create(t, s.types, `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: limited}
  spec:
    initializer: true
    extend: {with: [{name: universal, path: root}]}
    initializerPermissions: [{apiGroups: [tenancy.kcp.io], resources: [workspaces, workspaces/status], verbs: ["*"]}]
`)
	cluster := s.newborn(t, "limited").Spec.Cluster
	base := s.at(initializing, "limited", cluster) + "/apis/tenancy.kcp.io/v1alpha1/workspaces"
	servertest.Eventually(t, "workspaces are bound", func() (bool, any) {
		got := s.send(t, controller, http.MethodGet, base, "", nil)
		return got.code == http.StatusOK, got
	})
	got := s.send(t, controller, http.MethodPatch, base+"/x/status", `{"status":{}}`, map[string]string{"Content-Type": "application/merge-patch+json"})
	if got.code != http.StatusForbidden {
		t.Errorf("got %d %s", got.code, got.body)
	}
}

func references(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	path := s.at(initializing, "ruled", cluster) + "/apis/apis.kcp.io/v1alpha2/apibindings"
	bind := func(export, at string) answer {
		return s.send(t, controller, http.MethodPost, path, `{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":"`+export+
			`"},"spec":{"reference":{"export":{"name":"`+export+`","path":"`+at+`"}}}}`, nil)
	}
	if got := bind("topology.kcp.io", "root"); got.code != http.StatusCreated {
		t.Errorf("what everybody may bind he may: got %d %s", got.code, got.body)
	}
	if got := bind("shards.core.kcp.io", "root"); got.code != http.StatusForbidden {
		t.Errorf("got %d %s", got.code, got.body)
	}
}
