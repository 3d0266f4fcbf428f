package homes

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const buckets = "--home-workspaces-layout=buckets"

// known returns the flag that makes a server know users by their names: each has his name,
// hyphenated, as his token.
func known(t testing.TB, names ...string) string {
	t.Helper()
	var lines strings.Builder
	for i, name := range names {
		_, _ = fmt.Fprintf(&lines, "%s,%q,uid-%d\n", tokenOf(name), name, i)
	}
	lines.WriteString("admin-token,admin,0,\"system:masters\"\n")
	file := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--token-auth-file=" + file
}

func tokenOf(name string) string { return fmt.Sprintf("token-%x", name) }

// TestBuckets holds the fixed points against a server.
func TestBuckets(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	users := known(t, "adam", "alice", "bob")
	server := servertest.StartIn(t, root, users, buckets)
	admin := as(t, server, server.Config(t, "base").BearerToken)
	if ws := admin.get("root", workspaces+"/users"); ws.code != http.StatusOK || !strings.Contains(ws.body, `"homeroot"`) {
		t.Errorf("what homes are below is there from the start: %s", ws)
	}
	clusters := map[string]string{}
	for name, path := range map[string]string{"adam": "root:users:sj:pq:adam", "alice": "root:users:ss:xx:alice", "bob": "root:users:lh:sc:bob"} {
		caller := as(t, server, tokenOf(name))
		if first := caller.get("root", homePath); first.code != http.StatusOK {
			t.Errorf("nothing has to be waited for, so the first answer is the home: %s", first)
		}
		ws := caller.home()
		switch {
		case ws.Spec.URL != server.URL()+"/clusters/"+path, ws.Name != name, ws.UID == "", ws.ResourceVersion == "":
			t.Errorf("the home of %s is the Workspace at %s: %+v", name, path, ws)
		case ws.Spec.Type.Name != "home", ws.Status.Phase != corev1alpha1.PhaseReady, ws.CreationTimestamp.IsZero():
			t.Errorf("it is a home, and ready: %+v", ws)
		}
		caller.mayUse(path)
		lc := caller.cluster(path)
		if lc.Spec.CreatedBy == nil || lc.Spec.CreatedBy.Username != name || lc.Spec.Owner == nil || lc.Spec.Owner.Name != name || lc.Annotations["kcp.io/path"] != path {
			t.Errorf("it is the user's: %+v", lc)
		}
		for other := range clusters {
			as(t, server, tokenOf(other)).forbidden(path)
			caller.forbidden(clusters[other])
		}
		bucket, _ := logicalcluster.MustParsePath(path).Parent()
		caller.forbidden(bucket.String())
		if got := admin.get(bucket.String(), workspaces); got.code != http.StatusOK || !strings.Contains(got.body, `"name":"`+name+`"`) {
			t.Errorf("a bucket is a workspace with homes in it: %s", got)
		}
		if child := caller.child(path, "app"); child.Spec.URL != server.URL()+"/clusters/"+path+":app" {
			t.Errorf("a child is below it, not at %s", child.Spec.URL)
		}
		clusters[name] = ws.Spec.Cluster
	}

	server.Stop()
	server = servertest.StartIn(t, root, users, buckets)
	for name, cluster := range clusters {
		if got := as(t, server, tokenOf(name)).home().Spec; got.Cluster != cluster || !strings.HasPrefix(got.URL, server.URL()) {
			t.Errorf("the home of %s is what it was, at the address that the server has now: %+v", name, got)
		}
	}
}

// TestBucketByPath asks for paths at which there is nothing yet.
func TestBucketByPath(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, known(t, "adam", "alice", "bob", "12"), buckets, "--home-workspaces-creation-delay-seconds=7")
	adam, alice, master := as(t, server, tokenOf("adam")), as(t, server, tokenOf("alice")), as(t, server, "admin-token")
	for name, tc := range map[string]struct {
		reason string
		caller caller
		path   string
		code   int
		text   string
	}{
		"Others":      {"nobody makes the home of another", alice, "root:users:sj:pq:adam", http.StatusForbidden, "access denied"},
		"OtherBucket": {"nor a bucket that his own is not in", alice, "root:users:sj", http.StatusForbidden, "access denied"},
		"Name":        {"nor in his own bucket a home of another name", adam, "root:users:sj:pq:eve", http.StatusForbidden, "access denied"},
		"NoName":      {"who cannot have one makes none", as(t, server, tokenOf("12")), "root:users:sj", http.StatusForbidden, "access denied"},
		"Anonymous":   {"nor does nobody", as(t, server, ""), "root:users:sj", http.StatusForbidden, ""},
		"BadToken":    {"who nobody knows is told nothing else", as(t, server, "wrong"), "root:users:sj", http.StatusUnauthorized, ""},
		"Master":      {"nor does who may do everything: it is not his home", master, "root:users:sj:pq:adam", http.StatusNotFound, `"root:users:sj:pq:adam" not found`},
		"Deep":        {"a path below a home makes none", adam, "root:users:sj:pq:adam:app", http.StatusNotFound, "not found"},
		"Elsewhere":   {"paths elsewhere lead nowhere", adam, "root:nothing:sj", http.StatusNotFound, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{configMaps, "/api", "/healthz"} {
				got := tc.caller.get(tc.path, path)
				if got.code != tc.code || !strings.Contains(got.message(), tc.text) {
					t.Errorf("%s: %s", tc.reason, got)
				}
			}
		})
	}
	for _, path := range []string{"root:users:sj", "root:users:sj:pq", "root:users:sj:pq:adam"} {
		if got := master.get(path, "/api"); got.code != http.StatusNotFound {
			t.Errorf("%s has been made by a refusal: %s", path, got)
		}
	}

	// Each request makes what it asks for, and says to come again.
	for _, path := range []string{"root:users:sj", "root:users:sj:pq:adam"} {
		got := adam.get(path, configMaps)
		if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "7" || got.message() != "Creating the home workspace" {
			t.Errorf("%s is being made: %s, %v", path, got, got.header)
		}
		if got := master.get(path, "/api"); got.code != http.StatusOK {
			t.Errorf("%s has not been made: %s", path, got)
		}
	}
	adam.mayUse("root:users:sj:pq:adam")
	if got := adam.home(); got.Spec.URL != server.URL()+"/clusters/root:users:sj:pq:adam" {
		t.Errorf("it is his home: %+v", got.Spec)
	}
	alice.forbidden("root:users:sj:pq:adam")
}

// TestBucketsRefused is about homes that there cannot be.
func TestBucketsRefused(t *testing.T) {
	t.Parallel()
	// Bigger buckets would not do: that two names come to be one at the same place is rare.
	first, second := collision(t)
	server := servertest.Start(t, known(t, first, second, "BOB"), buckets, "--home-workspaces-bucket-levels=1", "--home-workspaces-bucket-size=1",
		"--home-workspaces-allow-unbalanced-buckets")
	ws := as(t, server, tokenOf(first)).home()
	got := as(t, server, tokenOf(second)).get("root", homePath)
	if got.code != http.StatusForbidden || !strings.Contains(got.message(), "is somebody else's") || !strings.Contains(got.message(), fmt.Sprintf("User %q", second)) {
		t.Errorf("the home at %s is that of %q, and %q is told so: %s", ws.Spec.URL, first, second, got)
	}
	as(t, server, tokenOf(second)).forbidden(ws.Spec.Cluster)
	as(t, server, tokenOf(first)).mayUse(ws.Spec.Cluster)

	got = as(t, server, tokenOf("BOB")).get("root", homePath)
	if got.code != http.StatusForbidden || !strings.Contains(got.message(), `user name "BOB" has no letter`) {
		t.Errorf("who cannot have one is told why: %s", got)
	}
}

// TestBucketsComeBack deletes a home, and then all of them.
func TestBucketsComeBack(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, known(t, "adam"), buckets)
	adam, master := as(t, server, tokenOf("adam")), as(t, server, "admin-token")
	last := adam.home().Spec.Cluster
	for _, at := range []struct{ parent, name string }{{"root:users:sj:pq", "adam"}, {"root:users:sj", "pq"}, {"root", "users"}} {
		if got := master.do(http.MethodDelete, at.parent, workspaces+"/"+at.name, ""); got.code != http.StatusOK {
			t.Fatalf("deleting %s in %s: %s", at.name, at.parent, got)
		}
		servertest.Eventually(t, "what is deleted is gone, and a new home there", func() (bool, any) {
			got := adam.get("root", homePath)
			return got.code == http.StatusOK && !strings.Contains(got.body, last) && !strings.Contains(got.body, "deletionTimestamp"), got
		})
		last = adam.home().Spec.Cluster
		adam.mayUse("root:users:sj:pq:adam")
	}
}

// TestSwitchedLayout starts a server with another layout than before.
func TestSwitchedLayout(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	users := known(t, "adam")
	server := servertest.StartIn(t, root, users)
	before := as(t, server, tokenOf("adam")).home().Spec.Cluster
	server.Stop()

	server = servertest.StartIn(t, root, users, buckets)
	adam := as(t, server, tokenOf("adam"))
	in := adam.home().Spec.Cluster
	if in == before {
		t.Errorf("a new home is in a bucket, and not %s", in)
	}
	adam.mayUse("user:adam")
	adam.mayUse("root:users:sj:pq:adam")
	server.Stop()

	server = servertest.StartIn(t, root, users)
	adam = as(t, server, tokenOf("adam"))
	if got := adam.home().Spec.Cluster; got != before {
		t.Errorf("the home is where it was before, and not %s", got)
	}
	adam.mayUse("root:users:sj:pq:adam")
}
