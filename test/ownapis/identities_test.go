package ownapis

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// TestPresetIdentities: exports in root have the identities of the file from the start, and
// keep those they have.
func TestPresetIdentities(t *testing.T) {
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "identities.yaml")
	startWith := func(identity string) *servertest.Server {
		content := "identities:\n- {export: tenancy.kcp.io, identity: " + identity + "}\n- {export: cowboys, identity: mine}\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return servertest.StartIn(t, root, "--root-identities-file="+file)
	}
	hash := func(s *servertest.Server, name string) string {
		return get[apisv1alpha2.APIExport](in(t, s, "root"), exports, name).Status.IdentityHash
	}

	s := startWith("first")
	if got := hash(s, "tenancy.kcp.io"); got != apihash.Identity([]byte("first")) {
		t.Errorf("the identity is %s", got)
	}
	in(t, s, "root").exportCowboys()
	servertest.Eventually(t, "an export of ours to have its identity", func() (bool, any) {
		got := hash(s, "cowboys")
		return got == apihash.Identity([]byte("mine")), got
	})
	s.Stop()

	s = startWith("second")
	if got := hash(s, "tenancy.kcp.io"); got != apihash.Identity([]byte("first")) {
		t.Errorf("after a restart with another file the identity is %s", got)
	}
}
