package operations

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/test/programs"
)

const (
	// patience is how long anything may take that is certain to happen.
	patience = time.Minute
	poll     = 5 * time.Millisecond
)

// buffer is what a process has written so far.
type buffer struct {
	mu      sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.String()
}

// process is a `kcp start`.
type process struct {
	cmd         *exec.Cmd
	root        string
	out, errOut buffer
	ended       chan struct{}
}

// launch runs the program without waiting for anything.
func launch(t *testing.T, root string, flags ...string) *process {
	t.Helper()
	p := &process{root: root, ended: make(chan struct{})}
	args := append([]string{"start", "--root-directory=" + root, "--bind-address=127.0.0.1", "--secure-port=0"}, flags...)
	p.cmd = exec.Command(programs.Path(t, "kcp"), args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errOut
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("standard error of process %d:\n%s", p.cmd.Process.Pid, p.errOut.String())
		}
	})
	return p
}

// start runs the program until it is ready.
func start(t *testing.T, root string, flags ...string) *process {
	t.Helper()
	p := launch(t, root, flags...)
	p.says(t, `"Ready"`)
	return p
}

// says waits for a message in the log.
func (p *process) says(t *testing.T, message string) {
	t.Helper()
	eventually(t, "the log says "+message, func() bool {
		select {
		case <-p.ended:
			t.Fatalf("the process has ended and did not say %s:\n%s", message, p.errOut.String())
		default:
		}
		return bytes.Contains([]byte(p.errOut.String()), []byte(message))
	})
}

// terminate sends a signal to stop.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// wait waits for the end and returns the exit code; -1 if a signal has ended it.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the process has not ended within %s", patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

var address = regexp.MustCompile(`url="([^"]+)"`)

func (p *process) url(t *testing.T) string {
	t.Helper()
	match := address.FindStringSubmatch(p.errOut.String())
	if match == nil {
		t.Fatalf("the log names no address:\n%s", p.errOut.String())
	}
	return match[1]
}

// config returns the configuration of the administrator's client in root.
func (p *process) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.root, "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.Host = p.url(t) + "/clusters/root"
	config.QPS = -1
	return config
}

func client(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New(what))
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %v", patience, context.Cause(ctx))
		case <-time.After(poll):
		}
	}
}
