package kcptest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/internal/authority"
	"github.com/forkless/kcp/internal/inprocess"
)

// patience is how long tests wait for what should take milliseconds. It is generous: the
// race detector on a busy machine is slow.
const patience = 2 * time.Minute

const rootPath = "root"

// ControlPlane is a running control plane.
type ControlPlane struct {
	running *inprocess.Server
	admin   *rest.Config
	users   *authority.Authority
	log     *recording
	// owner is the test that the control plane ends with; nil for those of New.
	owner testing.TB
	// scratch is a directory that goes in the end.
	scratch string
	stop    func() error
	// told are the tests that show the log if they fail.
	told sync.Map
}

// Start runs a control plane until the test ends, with all its subtests. If the test has
// failed by then, it shows what was logged meanwhile.
func Start(t testing.TB, opts ...Option) *ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, fmt.Errorf("it was not ready after %s", patience))
	defer cancel()
	c, err := New(ctx, opts...)
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	c.owner = t
	c.tellIfFailed(t)
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stopping the control plane: %v", err)
		}
	})
	return c
}

// New runs a control plane until Stop is called, for TestMain and for programs that are no
// tests. ctx bounds the start, not the life of the control plane.
func New(ctx context.Context, opts ...Option) (*ControlPlane, error) {
	wanted := settingsOf(opts)
	c := &ControlPlane{log: capture(wanted.log)}
	c.stop = sync.OnceValue(c.end)
	if err := c.start(ctx, wanted); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, wanted settings) (err error) {
	if c.scratch, err = os.MkdirTemp("", "kcptest-"); err != nil {
		return err
	}
	if c.users, err = newAuthority(); err != nil {
		return err
	}
	// Not in the root directory, where nothing is but what the server puts there.
	trust := filepath.Join(c.scratch, "client-ca.crt")
	if err := os.WriteFile(trust, c.users.Certificate(), 0o600); err != nil {
		return err
	}
	root, flags := wanted.root, []string{"--client-ca-file=" + trust}
	if root == "" {
		root, flags = filepath.Join(c.scratch, "root"), append(flags, "--in-memory")
	}
	if c.running, err = inprocess.Start(ctx, root, append(flags, wanted.flags...)...); err != nil {
		return err
	}
	if _, err := os.Stat(c.running.Kubeconfig); errors.Is(err, fs.ErrNotExist) {
		return errors.New("--batteries-included leaves out admin, whose kubeconfig a control plane for tests is set up with")
	}
	c.admin, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.running.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: admin.BaseContext}).ClientConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of the control plane: %w", err)
	}
	// Tests are no guests of the server that have to be slowed down.
	c.admin.QPS = -1
	return nil
}

// tellIfFailed has a test that fails show what was logged from now on, once for a test.
func (c *ControlPlane) tellIfFailed(t testing.TB) {
	if _, told := c.told.LoadOrStore(t, nil); told {
		return
	}
	from := c.log.position()
	t.Cleanup(func() {
		c.told.Delete(t)
		if text := c.log.since(from); t.Failed() && text != "" {
			t.Logf("logged by this process meanwhile:\n%s", text)
		}
	})
}

// Stop ends the control plane and gives back what it took. It returns why the control
// plane could not end in order; again, if it is called again.
func (c *ControlPlane) Stop() error { return c.stop() }

func (c *ControlPlane) end() error {
	defer c.log.end()
	var errs []error
	if c.running != nil {
		errs = append(errs, c.running.Stop())
	}
	if c.scratch != "" {
		errs = append(errs, os.RemoveAll(c.scratch))
	}
	return errors.Join(errs...)
}

// Stopped is closed when the control plane has ended, by Stop or by itself.
func (c *ControlPlane) Stopped() <-chan struct{} { return c.running.Done() }

// URL is the address of the server, without a path.
func (c *ControlPlane) URL() string { return c.running.URL() }

// Handler serves what the server serves, without a network in between.
func (c *ControlPlane) Handler() http.Handler { return c.running.Handler() }

// RootDirectory is where the control plane keeps its files while it runs.
func (c *ControlPlane) RootDirectory() string { return c.running.RootDirectory }

// Kubeconfig is the file with the administrators of the control plane: contexts "root"
// (the current one), "base", "system:admin" and "shard-base", as "kcp start" writes it.
func (c *ControlPlane) Kubeconfig() string { return c.running.Kubeconfig }

// Config returns the configuration of an administrator, directed at no workspace: what
// controllers need that look at many. For a workspace, see Workspace.Config.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Root is the workspace that all others are below of.
func (c *ControlPlane) Root() *Workspace { return c.At(rootPath) }

// At returns the workspace at a path, as "root:acme", or of a logical cluster. It does not
// look whether there is one.
func (c *ControlPlane) At(path string) *Workspace {
	return &Workspace{controlPlane: c, path: path}
}
