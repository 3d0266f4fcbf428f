package operations

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const writers = 8

// get sends a request without the retries of a client.
func get(ctx context.Context, config *rest.Config, path string) (*http.Response, error) {
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return c.Do(request)
}

// acknowledged are the names of what clients were told is written.
type acknowledged struct {
	mu    sync.Mutex
	names []string
}

func (a *acknowledged) add(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, name)
}

func (a *acknowledged) len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.names)
}

// load writes until stop says so or something fails. It returns what failed.
func load(ctx context.Context, c kubernetes.Interface, writer int, stop func() bool, written *acknowledged) error {
	for i := 0; !stop(); i++ {
		name := fmt.Sprintf("x-%d-%d", writer, i)
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap, metav1.CreateOptions{}); err != nil {
			return err
		}
		written.add(name)
	}
	return nil
}

// check starts the server again and looks for what was acknowledged.
func (a *acknowledged) check(t *testing.T, root string) {
	t.Helper()
	p := start(t, root)
	list, err := client(t, p.config(t)).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, item := range list.Items {
		there[item.Name] = true
	}
	for _, name := range a.names {
		if !there[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	t.Logf("%d writes were acknowledged", len(a.names))
}

// TestStopUnderLoad: nothing that was acknowledged is lost, and the end takes no time to
// speak of.
func TestStopUnderLoad(t *testing.T) {
	root := t.TempDir()
	p := start(t, root)
	c := client(t, p.config(t))
	var written acknowledged
	var wait sync.WaitGroup
	for i := range writers {
		// They go on until the server does not answer any more.
		wait.Go(func() { _ = load(t.Context(), c, i, func() bool { return false }, &written) })
	}
	eventually(t, "the clients are at work", func() bool { return written.len() > 100 })
	began := time.Now()
	p.terminate(t)
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("stopping took %s", took)
	}
	wait.Wait()
	written.check(t, root)
}

// TestStopWithDelay: clients that heed /readyz, as load balancers do, see no failure at
// all, neither a refusal nor a connection that breaks.
func TestStopWithDelay(t *testing.T) {
	root := t.TempDir()
	p := start(t, root, "--shutdown-delay-duration=2s")
	config := p.config(t)
	c := client(t, config)
	ready := &rest.Config{Host: p.url(t), TLSClientConfig: config.TLSClientConfig}
	gone := make(chan struct{})
	stop := func() bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}
	var written acknowledged
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			if err := load(t.Context(), c, i, stop, &written); err != nil {
				t.Errorf("a request failed: %v", err)
			}
		})
	}
	wait.Go(func() {
		defer close(gone)
		for {
			response, err := get(t.Context(), ready, "/readyz")
			if err != nil {
				t.Errorf("asking whether the server is ready: %v", err)
				return
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				// Load balancers take their time.
				<-time.After(time.Second)
				return
			}
			<-time.After(poll)
		}
	})
	eventually(t, "the clients are at work", func() bool { return written.len() > 100 })
	p.terminate(t)
	wait.Wait()
	if response, err := get(t.Context(), ready, "/livez"); err != nil {
		t.Errorf("the server is not alive during the delay: %v", err)
	} else {
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("/livez answers %d during the delay", response.StatusCode)
		}
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	written.check(t, root)
}

// TestStopSendsRetryAfter: with the flag, new requests are refused in words while those
// under way finish.
func TestStopSendsRetryAfter(t *testing.T) {
	p := start(t, t.TempDir(), "--shutdown-send-retry-after", "--shutdown-watch-termination-grace-period=5s")
	config := p.config(t)
	// A watch whose client does not read keeps the server from being drained for the
	// grace period; that it is told of the end does not matter here.
	w, err := client(t, config).CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	p.terminate(t)
	p.says(t, "Stopping")
	// Sooner or later each client is refused, by an answer or for want of a listener.
	for {
		response, err := get(t.Context(), config, "/api/v1/namespaces")
		if err != nil {
			break
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			continue
		}
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
			t.Errorf("a request is refused with %d", response.StatusCode)
		}
		break
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

// TestStopEndsWatchesCleanly: clients read to the end of their watches and not into a
// connection that breaks.
func TestStopEndsWatchesCleanly(t *testing.T) {
	for name, flags := range map[string][]string{
		"Default":     nil,
		"GracePeriod": {"--shutdown-watch-termination-grace-period=50s"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, t.TempDir(), flags...)
			config := p.config(t)
			const watches = 100
			ended := make(chan error, watches)
			for range watches {
				response, err := get(t.Context(), config, "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
				if err != nil {
					t.Fatal(err)
				}
				go func() { ended <- readEvents(response.Body) }()
			}
			began := time.Now()
			p.terminate(t)
			for range watches {
				select {
				case err := <-ended:
					if err != nil {
						t.Errorf("a watch ends with %v", err)
					}
				case <-time.After(patience):
					t.Fatal("a watch does not end")
				}
			}
			if code := p.wait(t); code != 0 {
				t.Errorf("the exit code is %d", code)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("stopping took %s", took)
			}
		})
	}
}

// readEvents reads a watch to its end, which has to be that of an event.
func readEvents(body io.ReadCloser) error {
	defer func() { _ = body.Close() }()
	decoder := json.NewDecoder(bufio.NewReader(body))
	for {
		var event struct{ Type string }
		if err := decoder.Decode(&event); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if event.Type == "ERROR" {
			return errors.New("the watch ends with an error event")
		}
	}
}

// TestSecondSignalEndsAtOnce: who is in a hurry need not wait for the delay.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := start(t, t.TempDir(), "--shutdown-delay-duration=1h")
	p.terminate(t)
	p.says(t, "Stopping")
	began := time.Now()
	p.terminate(t)
	if code := p.wait(t); code != -1 {
		t.Errorf("the exit code is %d: no signal has ended the process", code)
	}
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("the second signal took %s", took)
	}
}

// TestStopWhileStarting: a server that is told to stop before it is ready does.
func TestStopWhileStarting(t *testing.T) {
	root := t.TempDir()
	p := launch(t, root)
	eventually(t, "etcd is being started", func() bool {
		_, err := os.Stat(filepath.Join(root, "etcd-server"))
		return err == nil
	})
	p.terminate(t)
	p.wait(t)
	if strings.Contains(p.errOut.String(), "panic") || strings.Contains(p.errOut.String(), "goroutine ") {
		t.Errorf("it ended with\n%s", p.errOut.String())
	}
}
