package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/servertest/another"
)

// registerVariable makes this test binary register the identifier it names, and live until
// standard input ends.
const registerVariable = "REGISTRY_TEST_REGISTER"

func TestMain(m *testing.M) {
	if id := os.Getenv(registerVariable); id != "" {
		if _, err := Register(Entry{ID: id, PID: os.Getpid(), Started: time.Now()}); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("registered\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// alone gives the test a registry of its own.
func alone(t *testing.T) (directory string) {
	t.Helper()
	runtimeDirectory := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtimeDirectory)
	t.Setenv("TMPDIR", t.TempDir())
	return filepath.Join(runtimeDirectory, "kcp")
}

func list(t *testing.T) []string {
	t.Helper()
	entries, err := List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.ID)
	}
	return ids
}

func TestRegister(t *testing.T) {
	directory := alone(t)
	if ids := list(t); ids != nil {
		t.Fatalf("before anything is registered: %v", ids)
	}
	began := time.Now().Truncate(time.Second).UTC()
	older := Entry{ID: "z", PID: 4711, RootDirectory: "/demo/.kcp", URL: "https://127.0.0.1:6443", Version: "v0.3.0", Started: began}
	releaseNewer, err := Register(Entry{ID: "a", PID: 4712, Started: began.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	releaseOlder, err := Register(older)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"z", "a"}, list(t)); diff != "" {
		t.Errorf("the oldest comes first (-want +got)\n%s", diff)
	}
	found, ok, err := Find("z")
	if err != nil || !ok {
		t.Fatalf("a server that runs is found: %t, %v", ok, err)
	}
	if diff := cmp.Diff(older, found); diff != "" {
		t.Errorf("it is found as it was registered (-want +got)\n%s", diff)
	}
	if _, err := Register(older); !errors.Is(err, fs.ErrExist) {
		t.Errorf("two servers have one identifier: %v", err)
	}
	for _, release := range []func() error{releaseNewer, releaseOlder} {
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := Find("z"); ok || err != nil {
		t.Errorf("a server that was released is found: %t, %v", ok, err)
	}
	if files, err := os.ReadDir(directory); err != nil || len(files) > 0 {
		t.Errorf("something is left: %v, %v", files, err)
	}
}

func TestKilledServersAreForgotten(t *testing.T) {
	directory := alone(t)
	other := another.Start(t, registerVariable+"=other")
	if line := other.Line(t); line != "registered" {
		t.Fatalf("the other process says %q", line)
	}
	found, ok, err := Find("other")
	if err != nil || !ok || found.PID != other.Process.Pid {
		t.Errorf("the other process is listed as %+v, %t, %v", found, ok, err)
	}
	other.Kill(t)
	if ids := list(t); ids != nil {
		t.Errorf("a killed process is listed: %v", ids)
	}
	if files, err := os.ReadDir(directory); err != nil || len(files) > 0 {
		t.Errorf("what it has left is still there: %v, %v", files, err)
	}
}

func TestSessionsDiffer(t *testing.T) {
	alone(t)
	shared := os.Getenv("XDG_RUNTIME_DIR")
	t.Setenv("XDG_RUNTIME_DIR", "")
	release, err := Register(Entry{ID: "other-session"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	t.Setenv("XDG_RUNTIME_DIR", shared)
	if diff := cmp.Diff([]string{"other-session"}, list(t)); diff != "" {
		t.Errorf("a server of a session without that directory is listed (-want +got)\n%s", diff)
	}
}

func TestIdentifiers(t *testing.T) {
	alone(t)
	for id, reason := range map[string]string{
		"":        "it has to be something",
		"../evil": "it is the name of a file in one directory",
		".hidden": "it is listed",
		"a b":     "it is one word of a command line",
	} {
		if _, err := Register(Entry{ID: id}); err == nil {
			t.Errorf("%s: %q is taken", reason, id)
		}
	}
	if first, second := NewID(), NewID(); first == second || !valid(first) {
		t.Errorf("new identifiers are %q and %q", first, second)
	}
}

func TestDirectoryOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("every user has temporary files of his own there")
	}
	for name, tc := range map[string]struct {
		reason  string
		prepare func(directory string) error
	}{
		"Writable": {"others could have processes of this user ended", func(directory string) error {
			return errors.Join(os.Mkdir(directory, directoryMode), os.Chmod(directory, 0o777))
		}},
		"Link": {"it may lead anywhere", func(directory string) error { return os.Symlink(t.TempDir(), directory) }},
		"File": {"it is no directory", func(directory string) error { return os.WriteFile(directory, nil, 0o600) }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tc.prepare(alone(t)); err != nil {
				t.Fatal(err)
			}
			if _, err := Register(Entry{ID: "a"}); err == nil {
				t.Errorf("%s: it is used", tc.reason)
			}
			if _, err := List(); err == nil {
				t.Errorf("%s: it is believed", tc.reason)
			}
		})
	}
}

// TestManyLook: those who look for servers at the same time neither take each other for a
// server nor keep one from registering.
func TestManyLook(t *testing.T) {
	alone(t)
	directory := directories()[0]
	if err := own(directory); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(directory, "dead"+suffix)
	var all sync.WaitGroup
	for range 300 {
		if err := os.WriteFile(dead, []byte(`{"id":"dead","pid":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			all.Go(func() {
				if _, found, err := Find("dead"); found || err != nil {
					t.Errorf("nobody has the lock of an entry, and its server is found: %t, %v", found, err)
				}
			})
		}
		all.Go(func() {
			release, err := Register(Entry{ID: NewID()})
			if err != nil {
				t.Errorf("others only look, and a server cannot register: %v", err)
				return
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
}

// TestAbandoned: what a process has left that was killed before it wrote its entry goes,
// once nobody can be about to write it.
func TestAbandoned(t *testing.T) {
	alone(t)
	directory := directories()[0]
	if err := own(directory); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(directory, "a"+suffix)
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list(t)
	if _, err := os.Stat(empty); err != nil {
		t.Errorf("somebody may be about to write the entry: %v", err)
	}
	before := time.Now().Add(-2 * patience)
	if err := os.Chtimes(empty, before, before); err != nil {
		t.Fatal(err)
	}
	list(t)
	if _, err := os.Stat(empty); !os.IsNotExist(err) {
		t.Errorf("nobody is going to write the entry: %v", err)
	}
}
