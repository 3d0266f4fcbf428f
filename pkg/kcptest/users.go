package kcptest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/authority"
)

// newAuthority returns who says who users are. There is one in a process.
var newAuthority = sync.OnceValues(func() (*authority.Authority, error) {
	return authority.New("kcptest", time.Now())
})

// User returns the configuration of an ordinary user, who is authenticated by a client
// certificate, directed at no workspace. Users need not be made before, and may do what
// the policies of a workspace let them: nothing, in a new one.
func (c *ControlPlane) User(t testing.TB, name string, groups ...string) *rest.Config {
	t.Helper()
	config, err := c.UserConfig(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// UserConfig is User for those who are no test.
func (c *ControlPlane) UserConfig(name string, groups ...string) (*rest.Config, error) {
	issued, err := c.users.IssueClient(name, groups, time.Now())
	if err != nil {
		return nil, fmt.Errorf("making a certificate for user %s: %w", name, err)
	}
	config := rest.AnonymousClientConfig(c.admin)
	config.CertData, config.KeyData, config.QPS = issued.Certificate, issued.Key, -1
	return config, nil
}

// User returns the configuration of an ordinary user, directed at the workspace; see
// ControlPlane.User.
func (w *Workspace) User(t testing.TB, name string, groups ...string) *rest.Config {
	t.Helper()
	config := w.controlPlane.User(t, name, groups...)
	config.Host = w.URL()
	return config
}
