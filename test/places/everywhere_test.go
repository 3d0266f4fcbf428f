package places

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const tenancyExport = "/apis/apis.kcp.io/v1alpha2/apiexports/tenancy.kcp.io"

// TestEverywhere is about reading the workspaces of all logical clusters in one request, as
// those may who may read them in each.
func TestEverywhere(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t)))
	identity := read[apisv1alpha2.APIExport](s.as(t, s.admin, "root"), tenancyExport).Status.IdentityHash
	if identity == "" {
		t.Fatal("the export of workspaces has no identity")
	}
	all := "/apis/tenancy.kcp.io/v1alpha1/workspaces:" + identity
	for _, test := range []struct {
		name, reason string
		test         func(*testing.T, *suite, string)
	}{
		{"Read", "an administrator reads what he would read one by one, and nobody else reads anything", everywhereRead},
		{"Only", "an administrator reads nothing else over all clusters", everywhereOnly},
		{"Somebody", "whoever acts as somebody else, or as himself in some clusters, asks in each", everywhereSomebody},
		{"Offline", "what is in a workspace that is offline is not seen this way either", everywhereOffline},
		{"Policy", "the provider of workspaces has his say", everywherePolicy},
	} {
		t.Run(test.name, func(t *testing.T) { t.Log(test.reason); test.test(t, s, all) })
	}
}

func everywhereRead(t *testing.T, s *suite, all string) {
	path := s.universal(t, aliceName)
	s.as(t, alice, path).create("child", `{}`).must(t)
	child := s.as(t, alice, path).phase("child", corev1alpha1.PhaseReady)
	s.as(t, s.admin, path).annotate(clusterAPI, requiredGroupsKey, `"team-1"`).must(t)

	admin := s.as(t, s.admin, "*")
	found := map[string]string{}
	for _, ws := range read[tenancyv1alpha1.WorkspaceList](admin, all).Items {
		found[string(ws.UID)] = ws.Annotations[logicalcluster.AnnotationKey]
	}
	if want := child.Annotations[logicalcluster.AnnotationKey]; want == "" || found[string(child.UID)] != want {
		t.Errorf("the workspace is in %q, and found in %q", want, found[string(child.UID)])
	}
	asEach := read[tenancyv1alpha1.WorkspaceList](s.as(t, s.admin, path), tenancyAPI+"/workspaces").Items
	if len(asEach) != 1 || asEach[0].UID != child.UID {
		t.Errorf("in the workspace itself the administrator reads %d workspaces", len(asEach))
	}

	changes := admin.watch(all + "?watch=true&fieldSelector=" + url.QueryEscape("metadata.name=later"))
	s.as(t, alice, path).create("later", `{}`).must(t)
	if line, err := bufio.NewReader(changes.response.Body).ReadString('\n'); err != nil || !strings.Contains(line, `"later"`) {
		t.Errorf("the watch says %q, %v", line, err)
	}
	for _, token := range []string{alice, bob, ""} {
		s.as(t, token, "*").get(all).is(t, http.StatusForbidden)
		s.as(t, token, "*").get(all+"?watch=true").is(t, http.StatusForbidden)
		s.as(t, token, "*").get("/apis/tenancy.kcp.io/v1alpha1/workspaces").is(t, http.StatusForbidden)
	}
}

func everywhereOnly(t *testing.T, s *suite, all string) {
	admin := s.as(t, s.admin, "*")
	for _, path := range []string{
		all + "/child", all + "/child/status", "/api/v1/configmaps", "/api/v1/secrets", "/apis/core.kcp.io/v1alpha1/logicalclusters",
		"/apis/tenancy.kcp.io/v1alpha1/workspacetypes", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis", "/api", "/version", "/openapi/v3",
	} {
		admin.get(path).is(t, http.StatusForbidden)
	}
	admin.delete(all).is(t, http.StatusForbidden)
	admin.delete(all+"/child").is(t, http.StatusForbidden)
	admin.patch(all+"/child", `{"metadata":{"labels":{"a":"b"}}}`).is(t, http.StatusForbidden)
	admin.post(all, `{"metadata":{"name":"x"}}`).is(t, http.StatusForbidden)
	admin.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{}}`).is(t, http.StatusForbidden)
	// The resource alone means nothing over all clusters, as for the privileged.
	admin.get("/apis/tenancy.kcp.io/v1alpha1/workspaces").is(t, http.StatusNotFound)
	admin.get("/apis/tenancy.kcp.io/v1alpha1/workspaces:0123456789").is(t, http.StatusNotFound)
}

func everywhereSomebody(t *testing.T, s *suite, all string) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	account := in[struct{ Status struct{ Token string } }](inside, inside.post("/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)).Status.Token
	inside.admit("system:serviceaccount:default:default")
	s.as(t, account, path).answers(tenancyAPI+"/workspaces", http.StatusOK)
	s.as(t, account, "*").get(all).is(t, http.StatusForbidden)

	const admins = "system:kcp:admin"
	for name, tc := range map[string]struct {
		token  string
		header []string
		code   int
	}{
		"AdminAsHimself":  {s.admin, []string{"Impersonate-User", "kcp-admin", "Impersonate-Group", admins}, http.StatusForbidden},
		"AdminAsAlice":    {s.admin, []string{"Impersonate-User", aliceName}, http.StatusForbidden},
		"AliceAsAdmin":    {alice, []string{"Impersonate-User", "kcp-admin", "Impersonate-Group", admins}, http.StatusForbidden},
		"MasterAsAdmin":   {s.master, []string{"Impersonate-User", "somebody", "Impersonate-Group", admins}, http.StatusOK},
		"MasterAsAlice":   {s.master, []string{"Impersonate-User", aliceName}, http.StatusForbidden},
		"MasterScoped":    {s.master, []string{"Impersonate-User", "x", "Impersonate-Group", admins, "Impersonate-Extra-Authentication.kcp.io%2Fscopes", "cluster:root"}, http.StatusForbidden},
		"MasterWarranted": {s.master, []string{"Impersonate-User", "x", "Impersonate-Extra-Authorization.kcp.io%2Fwarrant", `{"user":"y","groups":["` + admins + `"]}`}, http.StatusForbidden},
	} {
		if a := s.as(t, tc.token, "*").do(http.MethodGet, all, "", "", tc.header...); a.code != tc.code {
			t.Errorf("%s: got %d %.200s", name, a.code, a.body)
		}
	}
}

func everywhereOffline(t *testing.T, s *suite, all string) {
	path := s.universal(t, aliceName)
	inside, admin := s.as(t, alice, path), s.as(t, s.admin, "*")
	inside.create("hidden", `{}`).must(t)
	inside.phase("hidden", corev1alpha1.PhaseReady)
	changes := admin.watch(all + "?watch=true")
	inside.annotate(clusterAPI, inactiveKey, `"true"`).must(t)
	changes.ends()
	s.as(t, s.admin, path).get(tenancyAPI+"/workspaces").is(t, http.StatusForbidden, markedInactive)
	admin.get(all).is(t, http.StatusForbidden)
	admin.get(all+"?watch=true").is(t, http.StatusForbidden)
	s.as(t, s.master, "*").get(all).is(t, http.StatusOK)
	inside.annotate(clusterAPI, inactiveKey, "null").must(t)
	admin.answers(all, http.StatusOK)
}

// everywherePolicy takes from those who have bound the export of workspaces, everybody, what
// its policy grants them, and gives it back.
func everywherePolicy(t *testing.T, s *suite, all string) {
	admin, root := s.as(t, s.admin, "*"), s.as(t, s.master, "root")
	path := s.universal(t)
	roles := map[string]string{}
	for _, name := range []string{"system:kcp:apiexport:tenancy:maximal-permission-policy", "system:kcp:apiexport:kcp-admin:maximal-permission-policy"} {
		role := "/apis/rbac.authorization.k8s.io/v1/clusterroles/" + name
		rules, err := json.Marshal(read[rbacv1.ClusterRole](root, role).Rules)
		if err != nil {
			t.Fatal(err)
		}
		roles[role] = string(rules)
		root.patch(role, `{"rules":[]}`).must(t)
	}
	s.as(t, s.admin, path).answers(tenancyAPI+"/workspaces", http.StatusForbidden)
	admin.answers(all, http.StatusForbidden)
	for role, rules := range roles {
		root.patch(role, `{"rules":`+rules+`}`).must(t)
	}
	s.as(t, s.admin, path).answers(tenancyAPI+"/workspaces", http.StatusOK)
	admin.answers(all, http.StatusOK)
}
