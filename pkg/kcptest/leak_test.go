package kcptest_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/internal/servertest/manifests"
	"github.com/forkless/kcp/pkg/kcptest"
)

// longVariable has tests run in full that take minutes.
const longVariable = "KCP_TEST_LONG"

// use starts a control plane, does a little of everything in it, and stops it.
func use(t *testing.T) {
	t.Helper()
	c, err := kcptest.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.WorkspaceContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.ApplyContext(t.Context(), kcptest.YAML(manifests.Cowboys+manifests.Cowboy("one"))); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(w.Config())
	if err != nil {
		t.Fatal(err)
	}
	// Nobody stops it: the end of the server ends it as well.
	watch, err := client.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	// What it says does not matter, only that it ends.
	for ok := true; ok; {
		_, ok = <-watch.ResultChan()
	}
	address, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	if connection, err := net.DialTimeout("tcp", address.Host, time.Minute); err == nil {
		_ = connection.Close()
		t.Errorf("somebody listens on %s after the end", address.Host)
	}
	if _, err := os.Stat(c.RootDirectory()); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", c.RootDirectory(), err)
	}
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	buffer := make([]byte, 16<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}

// checkGoroutines waits until there are no more goroutines than wanted.
func checkGoroutines(t *testing.T, wanted int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > wanted {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, of which %d were there before:\n%s", runtime.NumGoroutine(), wanted, stacks())
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond) //nolint:forbidigo // because nothing tells when a goroutine has ended
	}
}

// checkHeap waits until the heap is what it was before, and returns its size. It does not
// have to be so at once: a client's HTTP/2 connection is in memory for another 30 s when it
// has been closed, since golang.org/x/net/http2 leaves the timer running by which client-go
// looks after idle ones.
func checkHeap(t *testing.T, before int64) int64 {
	t.Helper()
	// A control plane takes more than twice this.
	const tolerance = 3 << 20
	var after int64
	eventually(t, "the heap", func(context.Context) error {
		if after = heap.InUse(); after > before+tolerance {
			return fmt.Errorf("it grew from %d KB to %d KB", before>>10, after>>10)
		}
		return nil
	})
	return after
}

// TestNothingStays: a process that starts and stops control planes, one after the other, is
// what it was before. The first one may leave what all share.
func TestNothingStays(t *testing.T) {
	rounds := 6
	if os.Getenv(longVariable) != "" {
		rounds = 1000
	}
	// Other tests of this package may have left some that are about to end.
	use(t)
	goroutines := runtime.NumGoroutine()
	use(t)
	before := heap.InUse()
	for range rounds {
		use(t)
	}
	checkGoroutines(t, goroutines)
	first := heap.InUse()
	last := checkHeap(t, before)
	t.Logf("after %d control planes: %d goroutines, heap %d KB, and %d KB at once, before %d KB",
		rounds, runtime.NumGoroutine(), last>>10, first>>10, before>>10)
}

// TestInterruptedStarts: a start that nobody waits for any more leaves nothing, however far
// it has come.
func TestInterruptedStarts(t *testing.T) {
	use(t)
	before := runtime.NumGoroutine()
	for moment := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(moment)*10*time.Millisecond)
		c, err := kcptest.New(ctx)
		cancel()
		if err != nil {
			continue
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
	checkGoroutines(t, before)
}

// TestManyAtOnce: control planes of one process do not get into each other's way.
func TestManyAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			c, err := kcptest.New(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				if err := c.Stop(); err != nil {
					t.Error(err)
				}
			}()
			// The same name everywhere: what is there is in one of them only.
			if _, err := c.WorkspaceContext(t.Context(), kcptest.WithName("only")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	checkGoroutines(t, before)
	if strings.Contains(stacks(), "etcdserver") {
		t.Error("an etcd runs on")
	}
}
