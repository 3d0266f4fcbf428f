package admin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/authn/identity"
)

const baseURL = "https://127.0.0.1:6443"

func newFiles(t *testing.T) Files {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kcp")
	return Files{TokenHash: filepath.Join(dir, ".admin-token-store"), Kubeconfig: filepath.Join(dir, "admin.kubeconfig")}
}

// start is what a server does, and returns the kubeconfig it leaves.
func start(t *testing.T, files Files, withUser bool) (*Battery, *clientcmdapi.Config) {
	t.Helper()
	b, err := Prepare(files, withUser)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(baseURL+"/", []byte("ca")); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(files.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return b, config
}

func TestKubeconfig(t *testing.T) {
	files := newFiles(t)
	_, config := start(t, files, true)

	type entry struct{ Server, CA, User string }
	got := map[string]entry{}
	for name, c := range config.Contexts {
		server := config.Clusters[c.Cluster]
		got[name] = entry{server.Server, string(server.CertificateAuthorityData), c.AuthInfo}
	}
	want := map[string]entry{
		"root":         {baseURL + "/clusters/root", "ca", "kcp-admin"},
		"base":         {baseURL, "ca", "kcp-admin"},
		"system:admin": {baseURL + "/clusters/system:admin", "ca", "shard-admin"},
		"shard-base":   {baseURL, "ca", "shard-admin"},
		"user":         {baseURL + "/clusters/root", "ca", "user"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contexts (-want +got):\n%s", diff)
	}
	if config.CurrentContext != "root" {
		t.Errorf("people begin in root, got %q", config.CurrentContext)
	}
	for _, path := range []string{files.Kubeconfig, files.TokenHash} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s is for its owner only: got mode %o", path, mode)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(files.Kubeconfig)); err != nil || len(entries) != 2 {
		t.Errorf("nothing else is left behind: got %v, %v", entries, err)
	}
}

func TestIdentities(t *testing.T) {
	b, config := start(t, newFiles(t), true)
	for name, groups := range map[string][]string{
		ShardAdminUser: {identity.Masters},
		AdminUser:      {identity.Admin},
		PlainUser:      nil,
	} {
		response, ok, err := b.Authenticator().AuthenticateToken(t.Context(), config.AuthInfos[name].Token)
		if err != nil || !ok {
			t.Fatalf("%s: got %v, %v", name, ok, err)
		}
		want := &user.DefaultInfo{Name: name, UID: response.User.GetUID(), Groups: groups}
		if diff := cmp.Diff(user.Info(want), response.User); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if response.User.GetUID() == "" {
			t.Errorf("%s has no UID", name)
		}
	}
	if _, ok, err := b.Authenticator().AuthenticateToken(t.Context(), "garbage"); ok || err != nil {
		t.Errorf("other tokens are unknown: got %v, %v", ok, err)
	}
}

func TestRestart(t *testing.T) {
	files := newFiles(t)
	_, first := start(t, files, true)
	_, second := start(t, files, false)
	if first.AuthInfos[ShardAdminUser].Token != second.AuthInfos[ShardAdminUser].Token {
		t.Error("the token of shard-admin survives a restart")
	}
	if first.AuthInfos[AdminUser].Token == second.AuthInfos[AdminUser].Token {
		t.Error("that of kcp-admin does not")
	}
	if _, ok := second.Contexts[PlainUser]; ok {
		t.Error("user is there only if asked for")
	}
}

func TestPrepareRefusesLostTokens(t *testing.T) {
	table := map[string]struct {
		reason string
		lose   func(t *testing.T, files Files)
	}{
		"NoKubeconfig": {"the kubeconfig is gone", func(t *testing.T, files Files) {
			remove(t, files.Kubeconfig)
		}},
		"BrokenKubeconfig": {"the kubeconfig cannot be read", func(t *testing.T, files Files) {
			write(t, files.Kubeconfig, "{{")
		}},
		"NoToken": {"the kubeconfig has no such user", func(t *testing.T, files Files) {
			write(t, files.Kubeconfig, "apiVersion: v1\nkind: Config\n")
		}},
		"OtherToken": {"the token is another one", func(t *testing.T, files Files) {
			write(t, files.Kubeconfig, "apiVersion: v1\nkind: Config\nusers: [{name: shard-admin, user: {token: x}}]\n")
		}},
		"OtherHash": {"the hash is another one", func(t *testing.T, files Files) {
			write(t, files.TokenHash, "x")
		}},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			files := newFiles(t)
			start(t, files, false)
			tc.lose(t, files)
			if _, err := Prepare(files, false); err == nil {
				t.Fatalf("%s: want an error", tc.reason)
			}
			remove(t, files.TokenHash)
			if _, err := Prepare(files, false); err != nil {
				t.Errorf("%s: removing the hash, as the error says, must help: got %v", tc.reason, err)
			}
		})
	}
}

func TestKilledBeforeHash(t *testing.T) {
	files := newFiles(t)
	start(t, files, false)
	remove(t, files.TokenHash)
	start(t, files, false)
	start(t, files, false)
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
