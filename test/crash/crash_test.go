package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	clients = 8
	// shortRounds are enough to see that the test itself works.
	shortRounds = 2
	longRounds  = 20
	// A round ends after so many acknowledged writes.
	fewest, most = 100, 600
)

// TestKill kills the server again and again.
func TestKill(t *testing.T) {
	rounds := shortRounds
	if os.Getenv("KCP_TEST_LONG") != "" {
		rounds = longRounds
	}
	root := filepath.Join(t.TempDir(), "kcp")
	ledger := newLedger()
	p := start(t, root)
	for round := range rounds {
		// The same moments each time, as far as other processes let it be the same.
		writes := fewest + rand.New(rand.NewPCG(uint64(round), 0)).IntN(most-fewest)
		work(t, p, ledger, round, writes)
		began := time.Now()
		p = start(t, root)
		t.Logf("round %d: killed after %d acknowledged writes, ready again after %s", round, writes, time.Since(began).Round(time.Millisecond))
		if err := p.acknowledged(t.Context(), ledger.all()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if _, err := p.settled(t.Context(), "root"); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	clusters, err := p.settled(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	p.stop(t)
	noOrphans(t, root, clusters)
}

// work lets clients write to p and kills it after some number of acknowledged writes.
func work(t *testing.T, p *process, ledger *ledger, round, writes int) {
	t.Helper()
	enough := ledger.await(writes)
	var killed atomic.Bool
	var failure error
	failed := make(chan struct{})
	var once sync.Once
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for i := range clients {
		c := &client{process: p, ledger: ledger, name: fmt.Sprintf("round-%d-client-%d", round, i)}
		group.Go(func() {
			// What fails before the kill fails for another reason.
			if err := c.run(ctx); !killed.Load() {
				once.Do(func() {
					failure = err
					close(failed)
				})
			}
		})
	}
	select {
	case <-enough:
		killed.Store(true)
	case <-failed:
	case <-time.After(patience):
		t.Errorf("round %d: %d writes took longer than %s", round, writes, patience)
		killed.Store(true)
	}
	p.kill()
	cancel()
	group.Wait()
	if failure != nil {
		t.Fatalf("round %d, before the kill: %v", round, failure)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// clusterName is a name as scheduling makes it, as a segment of a key. Nothing else in
// this test has a name of that form.
var clusterName = regexp.MustCompile(`/([0-9a-z]{16})(/|$)`)

// noOrphans fails if etcd holds a key of a logical cluster that is none of clusters.
func noOrphans(t *testing.T, root string, clusters []string) {
	t.Helper()
	etcd := servertest.OpenEtcd(t, filepath.Join(root, "etcd-server"))
	keys, err := etcd.Keys("")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, key := range keys {
		match := clusterName.FindStringSubmatch(key)
		if match == nil {
			continue
		}
		found[match[1]] = true
		if !slices.Contains(clusters, match[1]) {
			t.Errorf("key %s belongs to no workspace", key)
		}
	}
	if len(found) < len(clusters) {
		t.Errorf("%d logical clusters have keys, and there are %d workspaces: the keys have another form than this test knows", len(found), len(clusters))
	}
}
