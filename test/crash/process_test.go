package crash

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/test/programs"
)

const (
	// patience is how long anything may take that is certain to happen.
	patience = time.Minute
	poll     = 5 * time.Millisecond
)

// process is a running `kcp start`.
type process struct {
	cmd  *exec.Cmd
	url  string
	done chan struct{}

	config *rest.Config
	client *http.Client

	mu  sync.Mutex
	log strings.Builder
}

// start runs the program on a root directory until it is ready.
func start(t *testing.T, root string) *process {
	t.Helper()
	p := &process{done: make(chan struct{})}
	p.cmd = exec.Command(programs.Path(t, "kcp"), "start", "--root-directory="+root, "--bind-address=127.0.0.1", "--secure-port=0")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of process %d:\n%s", p.cmd.Process.Pid, p.said())
		}
	})
	ready := make(chan string, 1)
	go func() {
		defer close(p.done)
		p.read(bufio.NewScanner(stderr), ready)
		_ = p.cmd.Wait()
	}()
	select {
	case p.url = <-ready:
	case <-p.done:
		t.Fatalf("the server ended while starting:\n%s", p.said())
	case <-time.After(patience):
		t.Fatalf("the server is not ready after %s:\n%s", patience, p.said())
	}
	p.connect(t, filepath.Join(root, "admin.kubeconfig"))
	return p
}

// readyLine is what the log says when the server is ready.
var readyLine = regexp.MustCompile(`"Ready".* url="([^"]+)"`)

// read keeps the log and finds the address in it.
func (p *process) read(log *bufio.Scanner, ready chan<- string) {
	for log.Scan() {
		p.mu.Lock()
		_, _ = fmt.Fprintln(&p.log, log.Text())
		p.mu.Unlock()
		if match := readyLine.FindStringSubmatch(log.Text()); match != nil {
			ready <- match[1]
		}
	}
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// connect makes the client that all requests to this process share.
func (p *process) connect(t *testing.T, kubeconfig string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.Timeout = patience
	p.config = config
	if p.client, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
}

// in returns a client for a resource of a workspace.
func (p *process) in(workspace string, resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	config := rest.CopyConfig(p.config)
	config.Host = p.url + "/clusters/" + workspace
	client, err := dynamic.NewForConfigAndClient(config, p.client)
	if err != nil {
		// The address was good enough for all clients before.
		panic(err)
	}
	return client.Resource(resource)
}

// kill ends the process as a power failure would, as far as it can notice.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop ends the process in order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Signal(syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("the server has not stopped after %s", patience)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the server stopped with exit code %d:\n%s", code, p.said())
	}
}

// eventually calls check until it returns nil.
func eventually(ctx context.Context, what string, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w after %s", what, err, patience)
		case <-time.After(poll):
		}
	}
}
