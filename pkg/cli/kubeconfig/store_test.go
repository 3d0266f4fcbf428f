package kubeconfig

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const adminFile = `apiVersion: v1
clusters:
- cluster:
    certificate-authority: pki/ca.crt
    server: https://kcp/clusters/root
  name: root
contexts:
- context:
    cluster: root
    user: admin
  name: root
current-context: root
kind: Config
users:
- name: admin
  user:
    client-certificate: pki/admin.crt
    client-key: pki/admin.key
`

const foreignFile = `apiVersion: v1
clusters:
- cluster:
    certificate-authority: ../elsewhere/ca.crt
    extensions:
    - extension:
        answer: 42
      name: example.com/unknown
    server: https://kind
  name: kind
contexts:
- context:
    cluster: kind
    user: kind
  name: kind
kind: Config
preferences: {}
users:
- name: kind
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      args:
      - token
      command: kind-auth
      env: null
      interactiveMode: IfAvailable
      provideClusterInfo: false
`

// writeFiles writes the files into a directory of the test and returns it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func switchTo(server string) func(*api.Config) error {
	return func(config *api.Config) error { return Switch(config, config.CurrentContext, server) }
}

func TestEditKeepsWhatIsNotOurs(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": adminFile})
	file := filepath.Join(dir, "config")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	store := (&Flags{Path: file}).Store()
	if err := store.Edit(t.Context(), switchTo(aURL)); err != nil {
		t.Fatal(err)
	}

	const want = `apiVersion: v1
clusters:
- cluster:
    certificate-authority: pki/ca.crt
    server: https://kcp/clusters/root
  name: root
- cluster:
    certificate-authority: pki/ca.crt
    server: https://kcp/clusters/root:a
  name: workspace.kcp.io/current
contexts:
- context:
    cluster: root
    user: admin
  name: root
- context:
    cluster: workspace.kcp.io/current
    extensions:
    - extension:
        serial: 1
        visited:
        - https://kcp/clusters/root
      name: workspace.kcp.io/history
    user: admin
  name: workspace.kcp.io/current
- context:
    cluster: root
    user: admin
  name: workspace.kcp.io/previous
current-context: workspace.kcp.io/current
kind: Config
users:
- name: admin
  user:
    client-certificate: pki/admin.crt
    client-key: pki/admin.key
`
	if diff := cmp.Diff(want, read(t, file)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o640 {
		t.Errorf("the mode has become %o", mode)
	}
	expectNothingBeside(t, dir, "config")
}

// expectNothingBeside fails if something but the named files is in dir.
func expectNothingBeside(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("files left behind (-want +got)\n%s", diff)
	}
}

func TestEditOfSeveralFiles(t *testing.T) {
	dir := writeFiles(t, map[string]string{"1-admin": adminFile, "2-foreign": foreignFile})
	other := writeFiles(t, map[string]string{"ours": ""})
	admin, foreign := filepath.Join(dir, "1-admin"), filepath.Join(dir, "2-foreign")
	t.Setenv("KUBECONFIG", strings.Join([]string{filepath.Join(dir, "missing"), filepath.Join(other, "ours"), admin, foreign}, string(filepath.ListSeparator)))

	store := (&Flags{}).Store()
	if err := store.Edit(t.Context(), switchTo(aURL)); err != nil {
		t.Fatal(err)
	}
	if read(t, admin) != adminFile || read(t, foreign) != foreignFile {
		t.Error("new entries go to the first file that exists, the other files stay as they are")
	}
	ours, err := clientcmd.LoadFromFile(filepath.Join(other, "ours"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ours.Clusters[currentName].CertificateAuthority, filepath.Join(dir, "pki/ca.crt"); got != want {
		t.Errorf("a reference that comes to another file is %q, want %q", got, want)
	}
	if ours.CurrentContext != currentName {
		t.Errorf("the current context is %q", ours.CurrentContext)
	}

	if err := store.Edit(t.Context(), switchTo(bURL)); err != nil {
		t.Fatal(err)
	}
	snapshot, err := (&Flags{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	place, err := snapshot.Place()
	if err != nil {
		t.Fatal(err)
	}
	previous, err := snapshot.Previous()
	if err != nil {
		t.Fatal(err)
	}
	if place.Path.String() != "root:b" || previous.Path.String() != "root:a" {
		t.Errorf("the current workspace is %s and the previous one %s", place.Path, previous.Path)
	}
}

func TestEditRewritesForeignEntriesUnchanged(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": foreignFile})
	file := filepath.Join(dir, "config")
	err := (&Flags{Path: file}).Store().Edit(t.Context(), func(config *api.Config) error {
		_, err := CreateContext(config, "kind", NewContext{Name: "new", Server: "https://kind/clusters/root"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = (&Flags{Path: file}).Store().Edit(t.Context(), func(config *api.Config) error {
		config.Contexts["new"].Namespace = "again"
		config.CurrentContext = ""
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := clientcmd.Load([]byte(foreignFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []struct{ got, want any }{
		{got.Clusters["kind"].Extensions, want.Clusters["kind"].Extensions},
		{got.Clusters["kind"].CertificateAuthority, want.Clusters["kind"].CertificateAuthority},
		{got.AuthInfos["kind"].Exec.Command, want.AuthInfos["kind"].Exec.Command},
		{got.Contexts["kind"].AuthInfo, want.Contexts["kind"].AuthInfo},
	} {
		if diff := cmp.Diff(entry.want, entry.got); diff != "" {
			t.Errorf("foreign entries survive: %s", diff)
		}
	}
	if got.Contexts["new"].Namespace != "again" {
		t.Error("the change was not written")
	}
}

func TestEditWithoutChangeWritesNothing(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": "# a comment\n" + adminFile})
	file := filepath.Join(dir, "config")
	if err := (&Flags{Path: file}).Store().Edit(t.Context(), func(*api.Config) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); !strings.HasPrefix(got, "# a comment") {
		t.Errorf("the file was rewritten:\n%s", got)
	}
}

func TestEditThroughLink(t *testing.T) {
	dir := writeFiles(t, map[string]string{"real": adminFile})
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := (&Flags{Path: link}).Store().Edit(t.Context(), switchTo(aURL)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("a link stays a link, but it is %v (%v)", info, err)
	}
	if !strings.Contains(read(t, filepath.Join(dir, "real")), aURL) {
		t.Error("the file behind the link was not changed")
	}
}

func TestEditFailures(t *testing.T) {
	refusal := errors.New("no")
	cases := map[string]struct {
		reason string
		// prepare makes the file at name such that it cannot be changed.
		prepare func(t *testing.T, name string)
		edit    func(*api.Config) error
		want    string
	}{
		"Refused": {
			reason: "an edit that fails changes nothing",
			edit:   func(config *api.Config) error { config.CurrentContext = "x"; return refusal },
			want:   "no",
		},
		"Locked": {
			reason: "a lock that nobody releases is named",
			prepare: func(t *testing.T, name string) {
				if err := os.WriteFile(name+lockSuffix, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			edit: switchTo(aURL),
			want: "the kubeconfig is locked: FILE.lock still exists after 5s",
		},
		"ReadOnly": {
			reason: "a file that was made read-only stays as it is",
			prepare: func(t *testing.T, name string) {
				if os.Geteuid() == 0 {
					t.Skip("root may write to everything")
				}
				if err := os.Chmod(name, 0o400); err != nil {
					t.Fatal(err)
				}
			},
			edit: switchTo(aURL),
			want: "writing the kubeconfig: open FILE: permission denied",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"config": adminFile})
			file := filepath.Join(dir, "config")
			if tc.prepare != nil {
				tc.prepare(t, file)
			}
			store := (&Flags{Path: file}).Store()
			store.pause = func(context.Context) error { return nil }

			err := store.Edit(t.Context(), tc.edit)
			if want := strings.ReplaceAll(tc.want, "FILE", file); err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %q", tc.reason, err, want)
			}
			if read(t, file) != adminFile {
				t.Errorf("%s: the file was changed", tc.reason)
			}
		})
	}
}

func TestEditWaitsForTheLock(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": adminFile, "config" + lockSuffix: ""})
	file := filepath.Join(dir, "config")
	store := (&Flags{Path: file}).Store()
	pauses := 0
	store.pause = func(context.Context) error {
		// The other one is done after a while, and has changed something.
		if pauses++; pauses < 3 {
			return nil
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(adminFile, "user: admin", "user: other")), 0o600); err != nil {
			return err
		}
		return os.Remove(file + lockSuffix)
	}
	if err := store.Edit(t.Context(), switchTo(aURL)); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Contexts[currentName].AuthInfo; got != "other" {
		t.Errorf("what was changed meanwhile is lost: the user is %q", got)
	}
	expectNothingBeside(t, dir, "config")
}

func TestEditInterruptedWhileWaiting(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": adminFile, "config" + lockSuffix: ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := (&Flags{Path: filepath.Join(dir, "config")}).Store().Edit(ctx, switchTo(aURL))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	expectNothingBeside(t, dir, "config", "config"+lockSuffix)
}

func TestPlaceFollowsOneContext(t *testing.T) {
	dir := writeFiles(t, map[string]string{"config": adminFile})
	t.Setenv("KUBECONFIG", filepath.Join(dir, "config")+string(filepath.ListSeparator)+filepath.Join(writeFiles(t, map[string]string{"foreign": foreignFile}), "foreign"))
	cases := map[string]struct {
		reason string
		flags  func(*Flags)
		want   string
		err    string
	}{
		"Current": {reason: "the current context counts", flags: func(*Flags) {}, want: "https://kcp/clusters/root"},
		"Context": {reason: "a flag picks another one, with its server", flags: func(f *Flags) { f.Overrides.CurrentContext = "kind" }, want: "https://kind"},
		"Server":  {reason: "a flag names the server for this call", flags: func(f *Flags) { f.Overrides.ClusterInfo.Server = bURL }, want: bURL},
		"Missing": {reason: "a context must exist", flags: func(f *Flags) { f.Overrides.CurrentContext = "no" }, err: `context "no" does not exist`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			flags := &Flags{}
			tc.flags(flags)
			snapshot, err := flags.Load()
			if err != nil {
				t.Fatal(err)
			}
			place, err := snapshot.Place()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil || place.Server != tc.want {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, place.Server, err, tc.want)
			}
		})
	}
}

func TestLoadWithoutKubeconfig(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := (&Flags{Path: missing}).Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was named must exist: %v", err)
	}
	t.Setenv("KUBECONFIG", missing)
	snapshot, err := (&Flags{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Place(); !clientcmd.IsEmptyConfig(err) {
		t.Errorf("error %v", err)
	}
}
