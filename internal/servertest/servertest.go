// Package servertest starts whole servers inside tests: the real server with its
// embedded etcd, on a port of its own, gone when the test ends.
package servertest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

// startTimeout is generous: the race detector on a busy machine is slow.
const startTimeout = 2 * time.Minute

// Server is a running server.
type Server struct {
	*server.Server
	// Kubeconfig is the path of the admin kubeconfig.
	Kubeconfig string
	// RootDirectory is the root directory.
	RootDirectory string

	stop func()
}

// Start runs a server with command-line flags of `kcp start` until the test ends.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	return StartIn(t, t.TempDir(), flags...)
}

// StartIn is Start with a given root directory, which may have been used before.
func StartIn(t testing.TB, root string, flags ...string) *Server {
	t.Helper()
	claim := take(t, root, flags)
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.New(ctx, claim.Prepared)
	if err != nil {
		cancel()
		_ = claim.Release()
		t.Fatalf("starting the server: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	running := &Server{Server: s, RootDirectory: root, Kubeconfig: filepath.Join(root, "admin.kubeconfig")}
	stopped := false
	running.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stopping the server: %v", err)
		}
		if err := claim.Release(); err != nil {
			t.Errorf("releasing the root directory: %v", err)
		}
	}
	t.Cleanup(running.stop)
	select {
	case <-s.Ready():
	case err := <-done:
		done <- nil
		t.Fatalf("the server ended while starting: %v", err)
	case <-time.After(startTimeout):
		t.Fatalf("the server is not ready after %s", startTimeout)
	}
	return running
}

// Stop stops the server before the test ends.
func (s *Server) Stop() { s.stop() }

// Config returns a client configuration of a context of the admin kubeconfig: "root",
// "base", "system:admin", "shard-base".
func (s *Server) Config(t testing.TB, kubeContext string) *rest.Config {
	t.Helper()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: s.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: kubeContext}).ClientConfig()
	if err != nil {
		t.Fatalf("reading context %s: %v", kubeContext, err)
	}
	// Tests measure the server, not the patience of its clients.
	config.QPS = -1
	return config
}

// In returns the configuration of a context, directed at a workspace by path or name.
func (s *Server) In(t testing.TB, kubeContext, workspace string) *rest.Config {
	t.Helper()
	config := s.Config(t, kubeContext)
	config.Host = s.URL() + "/clusters/" + workspace
	return config
}

// take does what `kcp start` does before it has a server.
func take(t testing.TB, root string, flags []string) *launch.Claim {
	t.Helper()
	o := options.NewOptions()
	fs := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
	o.AddFlags(fs)
	args := append([]string{"--root-directory=" + root, "--bind-address=127.0.0.1", "--secure-port=0"}, flags...)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	completed, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	claim, err := launch.Take(t.Context(), completed)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}
