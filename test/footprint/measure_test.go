package footprint

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/heap"
)

// long says that suites may take minutes.
var long = os.Getenv("KCP_TEST_LONG") != ""

// goroutineSlack is how many goroutines may come and go by themselves: connections that
// are being closed, timers.
const goroutineSlack = 15

// seriesSlack is how many metric series may appear late: of what has happened for the
// first time, such as a request that was answered with another code. The first read of a
// resource from etcd makes a histogram of 25.
const seriesSlack = 60

// footprint is what a server costs at some time.
type footprint struct {
	goroutines int
	// heap is in bytes, after a collection.
	heap   int64
	series []string
}

func (f footprint) String() string {
	return fmt.Sprintf("%d goroutines, %.1f MB of heap, %d metric series", f.goroutines, float64(f.heap)/(1<<20), len(f.series))
}

// checkSeries fails if there are more metric series than before.
func checkSeries(t *testing.T, before, after footprint) {
	t.Helper()
	fresh := sets.New(after.series...).Difference(sets.New(before.series...)).UnsortedList()
	slices.Sort(fresh)
	if len(after.series) > len(before.series)+seriesSlack {
		t.Errorf("%d metric series have become %d; new are:\n%s", len(before.series), len(after.series), strings.Join(fresh, "\n"))
	}
}

// resting waits until goroutines neither come nor go, and returns how many there may be at
// rest from then on. Those of an earlier server take a while to end.
func resting(t *testing.T) int {
	t.Helper()
	const calm = 40
	last, unchanged := 0, 0
	servertest.Eventually(t, "the number of goroutines does not change", func() (bool, any) {
		n := runtime.NumGoroutine()
		if n == last {
			unchanged++
		} else {
			last, unchanged = n, 0
		}
		return unchanged >= calm, n
	})
	return last + goroutineSlack
}

// measure returns the footprint of this process, which is the server's and the test's, once
// its goroutines have come down to atRest and no metric series is about what tenants have
// made, which has names in its name.
func measure(t *testing.T, server *servertest.Server, client *http.Client, atRest int, names string) footprint {
	t.Helper()
	client.CloseIdleConnections()
	servertest.Eventually(t, fmt.Sprintf("at most %d goroutines remain", atRest), func() (bool, any) {
		n := runtime.NumGoroutine()
		return n <= atRest, n
	})
	result := footprint{goroutines: runtime.NumGoroutine(), heap: heap.InUse()}
	servertest.Eventually(t, "no metric series is about what a tenant has made", func() (bool, any) {
		result.series = seriesOf(t, server)
		at := slices.IndexFunc(result.series, func(series string) bool { return strings.Contains(series, names) })
		if at < 0 {
			return true, nil
		}
		return false, result.series[at]
	})
	return result
}

// seriesOf returns the metric series of the server, without their values.
func seriesOf(t *testing.T, server *servertest.Server) []string {
	t.Helper()
	client, err := kubernetes.NewForConfig(server.Config(t, "shard-base"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var series []string
	for line := range bytes.Lines(raw) {
		if text := string(line); !strings.HasPrefix(text, "#") {
			series = append(series, text[:strings.LastIndexByte(strings.TrimSpace(text), ' ')])
		}
	}
	return series
}

// access is a workspace, to whoever writes to it.
type access struct {
	config *rest.Config
	client *http.Client
}

// administrator returns access to a workspace by connections that all share.
func administrator(t *testing.T, server *servertest.Server) (*http.Client, func(workspace string) access) {
	t.Helper()
	config := server.Config(t, "base")
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, func(workspace string) access {
		in := rest.CopyConfig(config)
		in.Host = server.URL() + "/clusters/" + workspace
		return access{config: in, client: client}
	}
}

// inParallel calls do with 0 to n-1, several at a time.
func inParallel(t *testing.T, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	const workers = 8
	next := make(chan int)
	failed := make(chan error, workers)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range workers {
		go func() {
			var err error
			for i := range next {
				if err == nil {
					err = do(ctx, i)
				}
			}
			failed <- err
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
}
