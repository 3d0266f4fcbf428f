package rootdir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/internal/servertest/another"
)

const (
	// holdVariable makes this test binary hold the directory it names.
	holdVariable = "ROOTDIR_TEST_HOLD"
	holding      = "holding"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(holdVariable); path != "" {
		os.Exit(hold(path))
	}
	if os.Getenv(abandonIn) != "" {
		abandon()
		return
	}
	os.Exit(m.Run())
}

// hold takes hold of a directory and keeps it until standard input ends.
func hold(path string) int {
	d, err := Open(path, ".kcp", holder(os.Getpid()))
	if err != nil {
		return 1
	}
	_, _ = os.Stdout.WriteString(holding + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if d.Close() != nil {
		return 1
	}
	return 0
}

func holder(pid int) Holder {
	return Holder{PID: pid, Started: time.Now(), Version: "v0.3.0", URL: "https://127.0.0.1:6443"}
}

// elsewhere holds the directory at path in another process.
func elsewhere(t *testing.T, path string) *another.Process {
	t.Helper()
	other := another.Start(t, holdVariable+"="+path)
	if line := other.Line(t); line != holding {
		t.Fatalf("the other process did not take hold of the directory: %q", line)
	}
	return other
}

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".kcp")
	other := elsewhere(t, path)

	_, err := Open(path, ".kcp", holder(os.Getpid()))
	var inUse *InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("a directory that another process holds was opened: %v", err)
	}
	if inUse.Holder.PID != other.Process.Pid {
		t.Errorf("the error names pid %d, the holder is %d", inUse.Holder.PID, other.Process.Pid)
	}
	found, held, err := HolderOf(path)
	if err != nil || !held || found.PID != other.Process.Pid || found.URL == "" {
		t.Errorf("HolderOf = %+v, %t, %v; want pid %d with its URL", found, held, err, other.Process.Pid)
	}

	// A process that is killed lets go without any help.
	other.Kill(t)
	d, err := Open(path, ".kcp", holder(os.Getpid()))
	if err != nil {
		t.Fatalf("the directory of a killed process cannot be opened: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := HolderOf(path); held || err != nil {
		t.Errorf("a closed directory is held: %t, %v", held, err)
	}
}

func TestOneHolderInThisProcess(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path, ".kcp", holder(4711))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, ".kcp", holder(4712)); !errors.As(err, new(*InUseError)) {
		t.Errorf("two parts of a process hold the same directory: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCloseLeavesNoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", ".kcp")
	d, err := Open(path, ".kcp", holder(1))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != directoryMode {
		t.Errorf("the directory has mode %v, want %v (%v)", info.Mode().Perm(), directoryMode, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a directory that was made and never claimed is still there: %v", err)
	}

	d, err = Open(path, ".kcp", holder(1))
	if err != nil {
		t.Fatal(err)
	}
	if !d.New() {
		t.Error("a directory that was never claimed is not new")
	}
	if err := d.Claim("v0.3.0"); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err = Open(path, ".kcp", holder(1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if d.New() {
		t.Error("a directory that was claimed is new")
	}
}

func TestNewerLayout(t *testing.T) {
	path := t.TempDir()
	mark := []byte(`{"layout":2,"version":"v0.5.0"}`)
	if err := os.WriteFile(filepath.Join(path, layoutFile), mark, fileMode); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, ".kcp", holder(1))
	if !errors.As(err, new(*NewerLayoutError)) {
		t.Fatalf("a directory of a newer version was opened: %v", err)
	}
	const want = ".kcp was written by kcp v0.5.0, this is v0.3.0; nothing was changed"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if _, held, err := HolderOf(path); held || err != nil {
		t.Errorf("the directory is still held: %t, %v", held, err)
	}
}

func TestInUseErrorText(t *testing.T) {
	now := time.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 10, 2, 0, 0, time.Local)
	for name, tc := range map[string]struct {
		reason string
		holder Holder
		want   string
	}{
		"Today":  {"the time of day is enough", Holder{PID: 4711, Started: today}, ".kcp is in use by pid 4711, started 10:02"},
		"Before": {"10:02 of another day is not today's", Holder{PID: 4711, Started: time.Date(2020, 2, 3, 10, 2, 0, 0, time.Local)}, ".kcp is in use by pid 4711, started 2020-02-03 10:02"},
		"Silent": {"a holder that has not described itself yet has no number", Holder{}, ".kcp is in use by another process"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&InUseError{Label: ".kcp", Holder: tc.holder}).Error(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDescribeShorter(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path, ".kcp", Holder{PID: 4711, Version: "v0.3.0-a-very-long-version"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Describe(Holder{PID: 1}); err != nil {
		t.Fatal(err)
	}
	if got, held, err := HolderOf(path); err != nil || !held || got.PID != 1 || got.Version != "" {
		t.Errorf("HolderOf = %+v, %t, %v after a shorter description", got, held, err)
	}
}

func TestAbandon(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// before are files that are there, used says that a server has used the directory.
		before []string
		used   bool
		want   []string
	}{
		"Made":  {reason: "what was made for the start goes, and what was made around it"},
		"Empty": {reason: "a directory that was there stays, as it was", before: []string{}, want: []string{}},
		"Files": {reason: "what somebody has put there is his", before: []string{"sa.key"}, want: []string{"sa.key"}},
		"Used":  {reason: "what a server has kept is not touched", before: []string{}, used: true, want: []string{"apiserver.key.new", "kcp.lock", "layout", "sa.key"}},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			path := filepath.Join(base, "a", ".kcp")
			if tc.before != nil {
				if err := os.MkdirAll(path, directoryMode); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range tc.before {
				touch(t, path, file)
			}
			if tc.used {
				d, err := Open(path, ".kcp", holder(1))
				if err == nil {
					err = errors.Join(d.Claim("v0.3.0"), d.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d, err := Open(path, ".kcp", holder(1))
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Claim("v0.3.0"); err != nil {
				t.Fatal(err)
			}
			touch(t, path, "sa.key")
			touch(t, path, "apiserver.key.new")
			if err := d.Abandon(filepath.Join(path, "sa.key"), filepath.Join(path, "apiserver.key"), filepath.Join(base, "elsewhere")); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(path)
			if tc.want == nil {
				if _, err := os.Stat(filepath.Join(base, "a")); !os.IsNotExist(err) {
					t.Errorf("%s: something is left: %v", tc.reason, err)
				}
				return
			}
			got := []string{}
			for _, entry := range entries {
				got = append(got, entry.Name())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got)\n%s", tc.reason, err, diff)
			}
		})
	}
}

func touch(t *testing.T, directory, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(directory, name), []byte("content"), fileMode); err != nil {
		t.Fatal(err)
	}
}
