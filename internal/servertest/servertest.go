// Package servertest starts whole servers inside our own tests: control planes of
// pkg/kcptest, with what tests of the server itself need beyond what it gives to tests of
// others.
package servertest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/pkg/kcptest"
)

// Server is a running server.
type Server struct {
	// Kubeconfig is the path of the admin kubeconfig.
	Kubeconfig string
	// RootDirectory is the root directory.
	RootDirectory string

	controlPlane *kcptest.ControlPlane
	stop         func()
}

// Start runs a server with command-line flags of `kcp start` until the test ends. Its data
// is in memory unless the flags say where it is.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	if !slices.ContainsFunc(flags, func(flag string) bool { return strings.Contains(flag, "etcd") }) {
		flags = append([]string{"--in-memory"}, flags...)
	}
	return start(t, t.TempDir(), flags)
}

// StartIn is Start with a given root directory, which may have been used before. The data
// is in it.
func StartIn(t testing.TB, root string, flags ...string) *Server {
	t.Helper()
	return start(t, root, flags)
}

func start(t testing.TB, root string, flags []string) *Server {
	t.Helper()
	running := kcptest.Start(t, kcptest.WithRootDirectory(root), kcptest.WithFlags(flags...))
	s := &Server{controlPlane: running, RootDirectory: root, Kubeconfig: running.Kubeconfig()}
	// Once, so that what went wrong is told once.
	s.stop = sync.OnceFunc(func() {
		if err := running.Stop(); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	})
	return s
}

// Stop stops the server before the test ends.
func (s *Server) Stop() { s.stop() }

// URL returns the address of the server, without a path.
func (s *Server) URL() string { return s.controlPlane.URL() }

// Handler serves what the server serves, without a network in between.
func (s *Server) Handler() http.Handler { return s.controlPlane.Handler() }

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
