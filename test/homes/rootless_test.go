package homes

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// TestHome is row 53 of the contract, and what belongs to it.
func TestHome(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	alice, bob := as(t, server, user(1)), as(t, server, user(2))
	id := home.Cluster("user-1").String()

	first := alice.get("root", homePath)
	if first.code != http.StatusOK {
		t.Errorf("nothing has to be waited for, so the first answer is the home: %s", first)
	}
	ws := alice.home()
	if ws.CreationTimestamp.IsZero() || ws.UID != "" || ws.ResourceVersion != "" || ws.Name != "cluster" {
		t.Errorf("metadata are those of no stored Workspace: %+v", ws.ObjectMeta)
	}
	want := tenancyv1alpha1.WorkspaceSpec{
		Cluster: id, URL: server.URL() + "/clusters/" + id,
		Type: &tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: "home"},
	}
	if diff := cmp.Diff(want, ws.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if ws.Status.Phase != corev1alpha1.PhaseReady || len(ws.Status.Initializers) > 0 || len(ws.Status.Conditions) == 0 {
		t.Errorf("status is that of the logical cluster: %+v", ws.Status)
	}

	for _, path := range []string{id, "user:user-1"} {
		alice.mayUse(path)
		bob.forbidden(path)
	}
	lc := alice.cluster("user:user-1")
	for key, want := range map[string]string{
		"experimental.tenancy.kcp.io/owner": `{"username":"user-1"}`, "internal.tenancy.kcp.io/type": "root:home", "kcp.io/path": "user:user-1",
	} {
		if got := lc.Annotations[key]; got != want {
			t.Errorf("annotation %s is %q, not %q", key, got, want)
		}
	}
	switch {
	case lc.Spec.Owner != nil, lc.Spec.CreatedBy == nil, lc.Spec.CreatedBy.Username != "user-1", len(lc.Spec.Terminators) > 0:
		t.Errorf("it is the user's, and no Workspace owns it: %+v", lc.Spec)
	case lc.Status.URL != server.URL()+"/clusters/"+id:
		t.Errorf("its address is that of the cluster, not %s", lc.Status.URL)
	}
	if diff := cmp.Diff([]corev1alpha1.Initializer{"root:universal", "system:apibindings"}, lc.Spec.Initializers); diff != "" {
		t.Errorf("initializers of the type (-want +got):\n%s", diff)
	}
	if got := bob.get("user:nobody", "/api"); got.code != http.StatusForbidden {
		t.Errorf("a home that is not there is like one that is somebody else's: %s", got)
	}
}

// TestHomeForms asks for a home as kubectl does.
func TestHomeForms(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	alice := as(t, server, user(1))
	alice.home()
	for accept, want := range map[string][]string{
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/json": {`"kind":"Table"`, `"Phase"`, `"Ready"`, `"home"`},
		"application/yaml": {"kind: Workspace", "phase: Ready"},
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json": {`"kind":"PartialObjectMetadata"`, `"name":"cluster"`},
	} {
		got := alice.with("Accept", accept).get("root", homePath)
		for _, part := range want {
			if got.code != http.StatusOK || !strings.Contains(got.body, part) {
				t.Errorf("as %s: %q is missing in %s", accept, part, got)
			}
		}
	}
	for name, tc := range map[string]struct {
		reason, method, workspace, path, body string
		want                                  int
	}{
		"Delete":      {"a home is not the user's to delete", http.MethodDelete, "root", homePath, "", http.StatusForbidden},
		"Put":         {"nor to write", http.MethodPut, "root", homePath, "{}", http.StatusForbidden},
		"Status":      {"there is nothing below it", http.MethodGet, "root", homePath + "/status", "", http.StatusForbidden},
		"Elsewhere":   {"in other workspaces it is a name like any other", http.MethodGet, "user:user-1", homePath, "", http.StatusNotFound},
		"OtherGroup":  {"and so in other resources", http.MethodGet, "root", "/apis/tenancy.kcp.io/v1alpha1/workspacetypes/~", "", http.StatusNotFound},
		"LongPath":    {"there is no such child", http.MethodGet, "user:user-1:none", "/api", "", http.StatusNotFound},
		"NoSuchUser":  {"user alone is the name of a cluster", http.MethodGet, "user", "/api", "", http.StatusForbidden},
		"UnderTheDot": {"a path has no other steps", http.MethodGet, "user:..", "/api", "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := as(t, server, user(1)).do(tc.method, tc.workspace, tc.path, tc.body); got.code != tc.want {
				t.Errorf("%s: %s", tc.reason, got)
			}
		})
	}
	if got := alice.get("root", workspaces); strings.Contains(got.body, home.Cluster("user-1").String()) {
		t.Errorf("homes are in no list: %s", got)
	}
	if got := alice.get("root", workspaces+"?fieldSelector=metadata.name%3D~"); got.code != http.StatusOK || strings.Contains(got.body, "user-1") {
		t.Errorf("not even by name: %s", got)
	}
}

// TestHomeRefused is row 54 of the contract, and others who have no home.
func TestHomeRefused(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t), "--home-workspaces-home-creator-groups=team-1")
	const cannot = `workspaces.tenancy.kcp.io "~" is forbidden: User %q cannot create resource "workspaces" in API group "tenancy.kcp.io" at the cluster scope: `
	refused := func(who string) string { return strings.ReplaceAll(cannot, "%q", `"`+who+`"`) }
	admin := server.Config(t, "base").BearerToken
	for name, tc := range map[string]struct {
		reason string
		caller caller
		want   string
	}{
		"OutsideOfGroups": {"he is in none of the groups", as(t, server, user(2)), refused("user-2") + "workspace access not permitted"},
		"Anonymous":       {"nobody has no home", as(t, server, ""), refused("system:anonymous") + "nobody has a home workspace without authentication"},
		"Impersonated": {"the home is that of who is put on, who is in none of the groups", as(t, server, admin).with("Impersonate-User", "user-2"),
			refused("user-2") + "workspace access not permitted"},
		"ImpersonatedAccount": {"a service account has none, whoever puts it on", as(t, server, "admin-token").with("Impersonate-User", "system:serviceaccount:default:default"),
			refused("system:serviceaccount:default:default") + "service accounts have no home workspace"},
		"MayNotImpersonate": {"he may not put anybody on", as(t, server, user(2)).with("Impersonate-User", "user-1").with("Impersonate-Group", "team-1"),
			`workspaces.tenancy.kcp.io "~" is forbidden: User "user-2" cannot impersonate`},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.caller.get("root", homePath)
			if got.code != http.StatusForbidden || !strings.HasPrefix(got.message(), tc.want) {
				t.Errorf("%s: got %s\nwant %s", tc.reason, got, tc.want)
			}
		})
	}
	as(t, server, user(2)).forbidden("user:user-2")

	// A group is as good when it is put on.
	as(t, server, admin).with("Impersonate-User", "guest").with("Impersonate-Group", "team-1").with("Impersonate-Group", "system:authenticated").home()
	ws := as(t, server, user(1)).home()
	if ws.Spec.Cluster != home.Cluster("user-1").String() {
		t.Errorf("who is in the group has a home, not %s", ws.Spec.Cluster)
	}
}

// TestHomeOfServiceAccount asks with the token of a service account.
func TestHomeOfServiceAccount(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	alice := as(t, server, user(1))
	alice.home()
	got := alice.do(http.MethodPost, "user:user-1", "/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`)
	var token struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	if err := json.Unmarshal([]byte(got.body), &token); err != nil || token.Status.Token == "" {
		t.Fatalf("asking for a token: %s", got)
	}
	robot := as(t, server, token.Status.Token)
	if got := robot.get("root", homePath); got.code != http.StatusForbidden || !strings.Contains(got.message(), "service accounts have no home workspace") {
		t.Errorf("a service account has no home: %s", got)
	}
	if got := robot.get(home.Cluster("system:serviceaccount:default:default").String(), "/api"); got.code != http.StatusForbidden {
		t.Errorf("and there is none: %s", got)
	}
}

// TestChildOfHome is row 55 of the contract.
func TestChildOfHome(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	users := servertest.WithUsers(t)
	server := servertest.StartIn(t, root, users)
	alice, bob := as(t, server, user(1)), as(t, server, user(2))
	alice.home()
	child := alice.child("user:user-1", "app")
	if want := server.URL() + "/clusters/user:user-1:app"; child.Spec.URL != want {
		t.Errorf("its address is %s, not %s", child.Spec.URL, want)
	}
	grandchild := alice.child("user:user-1:app", "deep")
	id := home.Cluster("user-1").String()
	for _, path := range []string{"user:user-1:app", id + ":app", child.Spec.Cluster, "user:user-1:app:deep", id + ":app:deep", grandchild.Spec.Cluster} {
		alice.mayUse(path)
		bob.forbidden(path)
	}
	if got := alice.cluster(child.Spec.Cluster).Annotations["kcp.io/path"]; got != "user:user-1:app" {
		t.Errorf("its canonical path is %s", got)
	}

	server.Stop()
	server = servertest.StartIn(t, root, users)
	alice = as(t, server, user(1))
	if ws := alice.home(); ws.Spec.Cluster != id || ws.Spec.URL != server.URL()+"/clusters/"+id {
		t.Errorf("the home is what it was, at the address that the server has now: %+v", ws.Spec)
	}
	alice.mayUse("user:user-1:app:deep")

	if got := alice.do(http.MethodDelete, "user:user-1", workspaces+"/app", ""); got.code != http.StatusOK {
		t.Fatalf("deleting a child: %s", got)
	}
	servertest.Eventually(t, "the child has gone, with what was in it", func() (bool, any) {
		got := []answer{alice.get("user:user-1:app", "/api"), alice.get("user:user-1:app:deep", "/api"), alice.get(grandchild.Spec.Cluster, "/api")}
		return got[0].code == http.StatusNotFound && got[1].code == http.StatusNotFound && got[2].code == http.StatusForbidden, got
	})
	alice.mayUse("user:user-1")
}

// TestRaceForHome lets one user ask fifty times at once, while others ask as well.
func TestRaceForHome(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"Rootless": nil, "Buckets": {"--home-workspaces-layout=buckets"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servertest.Start(t, append(flags, servertest.WithUsers(t))...)
			var wait sync.WaitGroup
			clusters := make([][50]string, 2)
			for who := range clusters {
				for i := range clusters[who] {
					wait.Go(func() { clusters[who][i] = as(t, server, user(who+1)).home().Spec.Cluster })
				}
			}
			wait.Wait()
			for who := range clusters {
				for _, got := range clusters[who] {
					if got == "" || got != clusters[who][0] {
						t.Fatalf("one user has two homes: %v", clusters[who])
					}
				}
				as(t, server, user(who+1)).mayUse(clusters[who][0])
				as(t, server, user(2-who)).forbidden(clusters[who][0])
			}
		})
	}
}

// TestHomeComesBack deletes a home for good.
func TestHomeComesBack(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	alice, master := as(t, server, user(1)), as(t, server, "admin-token")
	before := alice.home()
	alice.do(http.MethodPost, "user:user-1", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"old"}}`)
	if got := alice.do(http.MethodDelete, "user:user-1", lcPath, ""); got.code != http.StatusForbidden {
		t.Errorf("a home is not its owner's to delete: %s", got)
	}
	for range 3 {
		uid := alice.cluster("user:user-1").UID
		if got := master.do(http.MethodDelete, "user:user-1", lcPath, ""); got.code != http.StatusOK {
			t.Fatalf("deleting a home: %s", got)
		}
		servertest.Eventually(t, "there is a new home", func() (bool, any) {
			got := alice.get("root", homePath)
			if got.code != http.StatusOK {
				return false, got
			}
			lc := alice.get("user:user-1", lcPath)
			now := &metav1.PartialObjectMetadata{}
			_ = json.Unmarshal([]byte(lc.body), now)
			return lc.code == http.StatusOK && now.UID != uid, lc
		})
		after := alice.home()
		if after.Spec.Cluster != before.Spec.Cluster {
			t.Errorf("it is where it was, not in %s", after.Spec.Cluster)
		}
		alice.mayUse("user:user-1")
	}
	if got := alice.get("user:user-1", configMaps+"/old"); got.code != http.StatusNotFound {
		t.Errorf("nothing is left of the old one: %s", got)
	}
}

// TestNoHomes switches them off.
func TestNoHomes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	users := servertest.WithUsers(t)
	server := servertest.StartIn(t, root, users)
	as(t, server, user(1)).home()
	server.Stop()

	server = servertest.StartIn(t, root, users, "--enable-home-workspaces=false")
	alice := as(t, server, user(1))
	if got := alice.get("root", homePath); got.code != http.StatusNotFound {
		t.Errorf("there is no workspace of the name: %s", got)
	}
	alice.mayUse("user:user-1")
	if got := as(t, server, user(2)).get("root", homePath); got.code != http.StatusNotFound {
		t.Errorf("nor for anybody else: %s", got)
	}
}
