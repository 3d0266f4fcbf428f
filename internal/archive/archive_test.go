package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/internal/storage"
)

const version = "v0.3.0"

// stopped returns what a server has left that has stored some things.
func stopped(t *testing.T) State {
	t.Helper()
	directory := t.TempDir()
	state := State{RootDirectory: directory, EtcdDirectory: filepath.Join(directory, "etcd-server"), Version: version}
	for name, content := range map[string]string{"sa.key": "key", "apiserver.crt": "certificate", "kcp.log": "log", "admin.kubeconfig": "token"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), fileMode); err != nil {
			t.Fatal(err)
		}
	}
	withEtcd(t, state.EtcdDirectory, func(client *clientv3.Client) {
		for _, value := range []string{"old", "older", "now"} {
			if _, err := client.Put(t.Context(), "kept", value); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.Put(t.Context(), "gone", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Delete(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
	})
	return state
}

// withEtcd runs etcd in a directory for as long as do takes.
func withEtcd(t *testing.T, directory string, do func(*clientv3.Client)) {
	t.Helper()
	serving := &url.URL{Scheme: "http", Host: address.Free(t)}
	layer, err := storage.StartEmbedded(t.Context(), storage.EmbeddedOptions{
		Settings: storage.Settings{CompactionInterval: storage.NoCompaction}, Directory: directory, Volatile: true, ClientURL: serving,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer layer.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{serving.String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	do(client)
}

func save(t *testing.T, state State) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "state.kcp")
	if err := Save(file, state); err != nil {
		t.Fatal(err)
	}
	return file
}

// fresh is where a new server is about to start.
func fresh(t *testing.T) State {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "new", ".kcp")
	return State{RootDirectory: directory, EtcdDirectory: filepath.Join(directory, "etcd-server"), Version: version}
}

// files returns what there is below a directory.
func files(t *testing.T, directory string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(directory, path)
			all = append(all, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestSaveAndRestore(t *testing.T) {
	into := fresh(t)
	if err := Restore(save(t, stopped(t)), into); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"apiserver.crt", "etcd-server/member/snap/db", "sa.key"}, files(t, into.RootDirectory)); diff != "" {
		t.Errorf("what is restored is what makes a server the same (-want +got)\n%s", diff)
	}
	if key, err := os.ReadFile(filepath.Join(into.RootDirectory, "sa.key")); err != nil || string(key) != "key" {
		t.Errorf("the key is %q, %v", key, err)
	}
	withEtcd(t, into.EtcdDirectory, func(client *clientv3.Client) {
		all, err := client.Get(t.Context(), "", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Kvs) != 1 || string(all.Kvs[0].Value) != "now" || all.Kvs[0].ModRevision != 4 {
			t.Errorf("there is %v", all.Kvs)
		}
		// Five writes and a delete, of which the last leaves nothing behind but its number.
		if all.Header.Revision != 6 {
			t.Errorf("versions go on from %d", all.Header.Revision)
		}
	})
}

func TestSameStateMakesTheSameArchive(t *testing.T) {
	state := stopped(t)
	first, err := os.ReadFile(save(t, state))
	if err != nil {
		t.Fatal(err)
	}
	into := fresh(t)
	if err := Restore(save(t, state), into); err != nil {
		t.Fatal(err)
	}
	if len(first) > 20<<10 {
		t.Errorf("an archive of next to nothing has %d bytes", len(first))
	}
	if err := Restore(save(t, state), into); err == nil {
		t.Error("a directory with data was restored into")
	}
}

// TestKilledServer: what a server had promised when it was killed is in the log of etcd,
// and may not be in its database.
func TestKilledServer(t *testing.T) {
	state := stopped(t)
	database := filepath.Join(state.EtcdDirectory, memberDirectory, databaseFile)
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	withEtcd(t, state.EtcdDirectory, func(client *clientv3.Client) {
		if _, err := client.Put(t.Context(), "promised", "yes"); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.WriteFile(database, before, fileMode); err != nil {
		t.Fatal(err)
	}
	into := fresh(t)
	if err := Restore(save(t, state), into); err != nil {
		t.Fatal(err)
	}
	withEtcd(t, into.EtcdDirectory, func(client *clientv3.Client) {
		if answer, err := client.Get(t.Context(), "promised"); err != nil || len(answer.Kvs) != 1 {
			t.Errorf("there is %v, %v", answer, err)
		}
	})
}

// packed returns an archive with the entries.
func packed(t *testing.T, entries ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		if err := w.WriteHeader(entry(e[0], int64(len(e[1])))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRestoreRefuses(t *testing.T) {
	first := func(h header) [2]string {
		content, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{headerEntry, string(content)}
	}
	now := header{Format: currentFormat, Layout: rootdir.CurrentLayout, Storage: storageVersion.String(), Version: "v0.5.0"}
	database := [2]string{databaseEntry, strings.Repeat("database", 10000)}
	sound := databaseOf(t, save(t, stopped(t)))
	whole := packed(t, first(now), [2]string{"root/sa.key", "key"}, database)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1
	newer := func(change func(*header)) []byte {
		h := now
		change(&h)
		return packed(t, first(h), database)
	}
	const refused = "FILE was written by kcp v0.5.0, this is v0.3.0; nothing was changed"

	for name, tc := range map[string]struct {
		reason  string
		content []byte
		want    string
	}{
		"NewerFormat":  {"its form cannot be known", newer(func(h *header) { h.Format++ }), refused},
		"NewerLayout":  {"the objects in it cannot be read", newer(func(h *header) { h.Layout++ }), refused},
		"NewerStorage": {"the database cannot be read", newer(func(h *header) { h.Storage = "3.7.0" }), refused},
		"Empty":        {"there is nothing", nil, "FILE is no archive of a kcp server"},
		"Foreign":      {"it is something else", []byte("apiVersion: v1"), "FILE is no archive of a kcp server"},
		"OtherTar":     {"it is somebody else's", packed(t, [2]string{"a", "b"}), "FILE is no archive of a kcp server"},
		"NoVersion":    {"it says nothing", packed(t, [2]string{headerEntry, "{}"}), "FILE is no archive of a kcp server"},
		"Truncated":    {"the end is missing", whole[:len(whole)-20], "FILE is damaged (unexpected EOF); nothing was changed"},
		"Short":        {"nearly all is missing", whole[:20], "FILE is damaged (unexpected EOF); nothing was changed"},
		"Damaged":      {"a bit is another one", damaged, "FILE is damaged (gzip: invalid checksum); nothing was changed"},
		"NoDatabase":   {"what matters is missing", packed(t, first(now)), "FILE is damaged (it contains no database); nothing was changed"},
		"NoDatabaseAtAll": {
			"it is something else", packed(t, first(now), database),
			"FILE is damaged (its database: it is no database); nothing was changed",
		},
		"EmptyDatabase": {
			"there is nothing in it", packed(t, first(now), [2]string{databaseEntry, ""}),
			"FILE is damaged (its database: it is too short); nothing was changed",
		},
		"CutDatabase": {
			"etcd would read what is not there", packed(t, first(now), [2]string{databaseEntry, string(sound[:len(sound)/2])}),
			"FILE is damaged (its database: it is cut off); nothing was changed",
		},
		"Escape": {
			"nothing is written elsewhere",
			packed(t, first(now), [2]string{"root/../../evil", "x"}, database),
			`FILE is damaged (it contains "root/../../evil"); nothing was changed`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "state.kcp")
			if err := os.WriteFile(file, tc.content, fileMode); err != nil {
				t.Fatal(err)
			}
			into := fresh(t)
			err := Restore(file, into)
			if err == nil {
				t.Fatalf("%s: it is restored", tc.reason)
			}
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(err.Error(), file, "FILE")); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if _, err := os.Stat(filepath.Dir(into.RootDirectory)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: something is left: %v", tc.reason, files(t, filepath.Dir(into.RootDirectory)))
			}
		})
	}
	if err := Restore(filepath.Join(t.TempDir(), "missing"), fresh(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestSaveFails(t *testing.T) {
	state := stopped(t)
	t.Run("NoSuchDirectory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "no", "state.kcp")
		want := "saving the state to " + file + ": no such file or directory"
		if err := Save(file, state); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("NoDatabase", func(t *testing.T) {
		directory := t.TempDir()
		file := filepath.Join(directory, "state.kcp")
		if err := os.WriteFile(file, []byte("before"), fileMode); err != nil {
			t.Fatal(err)
		}
		nothing := fresh(t)
		err := Save(file, nothing)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the state of nothing was saved: %v", err)
		}
		if !strings.Contains(err.Error(), nothing.EtcdDirectory) {
			t.Errorf("it is not the file to save to that is missing: %v", err)
		}
		if content, err := os.ReadFile(file); err != nil || string(content) != "before" {
			t.Errorf("what was there is %q, %v", content, err)
		}
		if diff := cmp.Diff([]string{"state.kcp"}, files(t, directory)); diff != "" {
			t.Errorf("nothing half-done is left (-want +got)\n%s", diff)
		}
	})
}

// TestSaveOverNoFile: what is no file stays what it is. Who may write a directory of devices
// would have /dev/null replaced otherwise.
func TestSaveOverNoFile(t *testing.T) {
	state, place := stopped(t), filepath.Join(t.TempDir(), "place")
	if err := os.Mkdir(place, directoryMode); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(os.DevNull, file); err != nil {
		t.Skip("there are no links here")
	}
	for _, at := range []string{place, file} {
		before, err := os.Lstat(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := Save(at, state); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("an archive takes the place of %s: %v", before.Mode().Type(), err)
		}
		if after, err := os.Lstat(at); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s has become %v: %v", before.Mode().Type(), after, err)
		}
	}
}
