package homes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/tenancy/home"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const mergePatch = "application/merge-patch+json"

// TestHomeWaits lets homes wait for an initializer.
func TestHomeWaits(t *testing.T) {
	t.Parallel()
	for name, layout := range map[string]struct{ flag, path, delay string }{
		"Rootless": {"--home-workspaces-layout=rootless", "user:adam", "1"},
		"Buckets":  {buckets, "root:users:sj:pq:adam", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servertest.Start(t, known(t, "adam", "bob"), layout.flag)
			adam, master := as(t, server, tokenOf("adam")), as(t, server, "admin-token")
			got := master.with("Content-Type", mergePatch).do(http.MethodPatch, "root",
				"/apis/tenancy.kcp.io/v1alpha1/workspacetypes/home", `{"spec":{"initializer":true}}`)
			if got.code != http.StatusOK {
				t.Fatalf("giving homes an initializer: %s", got)
			}
			guests := 0
			servertest.Eventually(t, "homes have an initializer", func() (bool, any) {
				guests++
				guest := master.with("Impersonate-User", fmt.Sprintf("guest-%d", guests)).with("Impersonate-Group", "system:authenticated")
				got := guest.get("root", homePath)
				return got.code == http.StatusTooManyRequests, got
			})
			for range 3 {
				got := adam.get("root", homePath)
				if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != layout.delay ||
					got.message() != "Creating the home workspace" || strings.HasPrefix(got.body, "{") {
					t.Errorf("a home that waits is asked for again: %s, %v", got, got.header)
				}
			}
			lc := adam.cluster(layout.path)
			if lc.Status.Phase != corev1alpha1.PhaseInitializing || len(lc.Status.Initializers) != 1 || lc.Status.Initializers[0] != "root:home" {
				t.Errorf("it waits for the initializer of its type: %+v", lc.Status)
			}
			as(t, server, tokenOf("bob")).forbidden(layout.path)
			got = adam.with("Content-Type", mergePatch).do(http.MethodPatch, layout.path, lcPath+"/status", `{"status":{"initializers":[]}}`)
			if got.code != http.StatusOK {
				t.Fatalf("taking the initializer away: %s", got)
			}
			if ws := adam.home(); ws.Status.Phase != corev1alpha1.PhaseReady {
				t.Errorf("now it is ready: %+v", ws.Status)
			}
			adam.mayUse(layout.path)
		})
	}
}

// TestRootlessTree makes a tree that begins neither at root nor at a home.
func TestRootlessTree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	users := servertest.WithUsers(t)
	server := servertest.StartIn(t, root, users)
	master, alice := as(t, server, "admin-token"), as(t, server, user(1))
	const logicalClusters = "/apis/core.kcp.io/v1alpha1/logicalclusters"
	claim := func(path string) string {
		return `{"apiVersion":"core.kcp.io/v1alpha1","kind":"LogicalCluster","metadata":{"name":"cluster","annotations":{` +
			`"kcp.io/path":"` + path + `","internal.tenancy.kcp.io/type":"root:universal","experimental.tenancy.kcp.io/owner":"{\"username\":\"user-1\"}"}},` +
			`"spec":{"initializers":["system:apibindings"]}}`
	}
	if got := alice.do(http.MethodPost, "acme-cluster", logicalClusters, claim("tenants:acme")); got.code != http.StatusForbidden {
		t.Errorf("only who is privileged begins a tree: %s", got)
	}
	if got := alice.get("tenants:acme", "/api"); got.code != http.StatusNotFound {
		t.Errorf("there is none: %s", got)
	}
	if got := master.do(http.MethodPost, "acme-cluster", logicalClusters, claim("tenants:acme")); got.code != http.StatusCreated {
		t.Fatalf("beginning a tree: %s", got)
	}
	servertest.Eventually(t, "the tree is ready", func() (bool, any) {
		got := master.get("acme-cluster", lcPath)
		return strings.Contains(got.body, `"phase":"Ready"`), got
	})
	// As soon as it says so, it is there.
	if got := alice.get("tenants:acme", "/api"); got.code != http.StatusOK {
		t.Errorf("its owner is admin in it: %s", got)
	}
	child := alice.child("tenants:acme", "app")
	if want := server.URL() + "/clusters/tenants:acme:app"; child.Spec.URL != want {
		t.Errorf("the child is at %s, not %s", child.Spec.URL, want)
	}
	alice.mayUse("tenants:acme:app")
	as(t, server, user(2)).forbidden("tenants:acme:app")

	// Nobody else gets the path.
	got := master.do(http.MethodPost, "thief", logicalClusters, claim("tenants:acme"))
	if got.code != http.StatusForbidden || !strings.Contains(got.message(), `path "tenants:acme" leads to another logical cluster`) {
		t.Errorf("a path leads to one place: %s", got)
	}
	got = master.do(http.MethodPost, "thief", logicalClusters, claim("user:user-2"))
	if got.code != http.StatusForbidden || !strings.Contains(got.message(), `path "user:user-2" leads to another logical cluster`) {
		t.Errorf("homes are where they are: %s", got)
	}
	moved := `{"metadata":{"annotations":{"kcp.io/path":"tenants:acme"}}}`
	alice.child("tenants:acme", "other")
	alice.with("Content-Type", mergePatch).do(http.MethodPatch, "tenants:acme:other", lcPath, moved)
	if got := alice.cluster("tenants:acme:other").Annotations["kcp.io/path"]; got != "tenants:acme:other" {
		t.Errorf("an admin has moved his workspace to %s", got)
	}

	server.Stop()
	server = servertest.StartIn(t, root, users)
	alice, master = as(t, server, user(1)), as(t, server, "admin-token")
	alice.mayUse("tenants:acme:app")

	if got := master.do(http.MethodDelete, "tenants:acme", lcPath, ""); got.code != http.StatusOK {
		t.Fatalf("ending the tree: %s", got)
	}
	servertest.Eventually(t, "the tree has gone, with all that was in it", func() (bool, any) {
		got := []answer{alice.get("tenants:acme", "/api"), alice.get("tenants:acme:app", "/api"), alice.get(child.Spec.Cluster, "/api")}
		return got[0].code == http.StatusNotFound && got[1].code == http.StatusNotFound && got[2].code == http.StatusForbidden, got
	})
	if got := master.do(http.MethodPost, "second-cluster", logicalClusters, claim("tenants:acme")); got.code != http.StatusCreated {
		t.Errorf("the path is free again: %s", got)
	}
	if got := alice.get(home.Cluster("user-1").String(), "/api"); got.code != http.StatusForbidden {
		t.Errorf("the owner of a tree has no home by that: %s", got)
	}
}
