package homes

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/tenancy/home"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// collision returns the names of two users whose homes have the same path in buckets of one
// level and one letter.
func collision(t testing.TB) (first, second string) {
	t.Helper()
	layout := home.Buckets{Root: logicalcluster.MustParsePath("root:users"), Levels: 1, Size: 1}
	at := map[logicalcluster.Path]string{}
	for i := range 1000 {
		name := fmt.Sprintf("a%cb%cc", "._:+-@"[i%6], "._:+-@"[i/6%6])
		path, err := layout.Path(name)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := at[path]; ok && other != name {
			return other, name
		}
		at[path] = name
	}
	t.Fatal("no two names come to be one")
	return "", ""
}

// odd are names that users have, of which some look like something else.
var odd = []string{
	"alice", "Alice", "ALICE", "alice@example.com", "user:with:colons", "user:alice", "system:alice", "a.b", "a-b", "a_b",
	"-", "--alice--", "..", "../root", "root", "root:users", "*", "~", "a b", "a\tb", "ålice", "пользователь", "a%2fb", "a/b",
	"cn=alice,o=example", `"quoted"`, "<b>&amp;", strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("y", 500),
}

// TestOddNames gives homes to users with odd names: each has his own, and children in it.
func TestOddNames(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	master := as(t, server, "admin-token")
	owners := map[string]string{}
	for _, name := range odd {
		// Header values may have no such characters; certificates and providers of
		// identities could.
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			continue
		}
		caller := master.with("Impersonate-User", name).with("Impersonate-Group", "system:authenticated")
		cluster := caller.home().Spec.Cluster
		if other, ok := owners[cluster]; ok {
			t.Fatalf("%q and %q have the same home", name, other)
		}
		owners[cluster] = name
		caller.mayUse(cluster)
		child := caller.child(cluster, "app")
		if want := server.URL() + "/clusters/" + home.Path(name).String() + ":app"; child.Spec.URL != want {
			t.Errorf("the child of the home of %q is at %s, not at %s", name, child.Spec.URL, want)
		}
		if got := caller.get(strings.TrimPrefix(child.Spec.URL, server.URL()+"/clusters/"), "/api"); got.code != http.StatusOK {
			t.Errorf("the address %s leads nowhere: %s", child.Spec.URL, got)
		}
		for other := range owners {
			if other != cluster {
				caller.forbidden(other)
			}
		}
	}
}

// TestThousandUsers gives each of a thousand users a home, in both layouts.
func TestThousandUsers(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes a few thousand workspaces")
	}
	for name, flags := range map[string][]string{"Rootless": nil, "Buckets": {buckets}} {
		t.Run(name, func(t *testing.T) {
			const users, clients = 1000, 16
			server := servertest.Start(t, append(flags, servertest.WithUsers(t))...)
			master := as(t, server, "admin-token")
			names := make(chan string)
			var (
				wait  sync.WaitGroup
				mu    sync.Mutex
				homes = map[string]string{}
			)
			began := time.Now()
			for range clients {
				wait.Go(func() {
					for name := range names {
						caller := master.with("Impersonate-User", name).with("Impersonate-Group", "system:authenticated")
						got := caller.home()
						mu.Lock()
						homes[got.Spec.Cluster] = name
						mu.Unlock()
					}
				})
			}
			for i := range users {
				names <- fmt.Sprintf("user-number-%d", i)
			}
			close(names)
			wait.Wait()
			t.Logf("%d homes in %s", users, time.Since(began))
			if len(homes) != users {
				t.Fatalf("%d users have %d homes", users, len(homes))
			}
			began = time.Now()
			for cluster, name := range homes {
				caller := master.with("Impersonate-User", name).with("Impersonate-Group", "system:authenticated")
				if got := caller.home().Spec.Cluster; got != cluster {
					t.Fatalf("%s has the home %s, and then %s", name, cluster, got)
				}
				if lc := caller.cluster(cluster); lc.Spec.CreatedBy.Username != name {
					t.Fatalf("the home of %s is that of %s", name, lc.Spec.CreatedBy.Username)
				}
			}
			t.Logf("asked again, one after the other: %s", time.Since(began))
		})
	}
}
