//go:build linux

package ephemeral

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/forkless/kcp/internal/servertest/apart"
	"github.com/forkless/kcp/test/programs"
)

// loopback gives a network namespace the one interface that everything needs.
func loopback(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(socket) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Skipf("the loopback interface cannot be brought up: %v", err)
	}
}

// result is what came of a run.
type result struct {
	code           int
	stdout, stderr string
}

// run runs "kcp run" with the folder for temporary files.
func (tr *trail) run(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(programs.Path(t, "kcp"), append([]string{"run"}, args...)...)
	cmd.Env = append(tr.env(), "PATH="+programs.Directory(t)+":"+os.Getenv("PATH"))
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	if cmd.Process != nil {
		tr.pids = append(tr.pids, cmd.Process.Pid)
	}
	return result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errOut.String()}
}

// expectError expects one line that says what is wrong.
func (r result) expectError(t *testing.T, code int, says string) {
	t.Helper()
	if r.code != code || !strings.HasPrefix(r.stderr, "error: ") || !strings.Contains(r.stderr, says) || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("exit code %d, want %d and one line with %q, got:\n%s", r.code, code, says, r.stderr)
	}
}

func TestOffline(t *testing.T) {
	programs.Directory(t) // built out here, where there may be a network
	if !apart.Run(t) {
		return
	}
	loopback(t)
	tr := newTrail(t)
	r := tr.run(t, "--", "kubectl", "get", "namespace", "default", "-o", "name")
	if r.code != 0 || r.stdout != "namespace/default\n" {
		t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
	tr.gone(t)
}

func TestDisks(t *testing.T) {
	programs.Directory(t) // built out here, where there may be a network
	if !apart.Run(t) {
		return
	}
	loopback(t)

	t.Run("Full", func(t *testing.T) {
		tr := newTrail(t)
		tr.temporary = apart.Mount(t, "16k", 0)
		apart.Fill(t, tr.temporary, "filler")
		tr.run(t, "--", "true").expectError(t, 1, "no space left on device")
		tr.gone(t)
	})
	t.Run("SoonFull", func(t *testing.T) {
		tr := newTrail(t)
		tr.temporary = apart.Mount(t, "16k", 0)
		tr.run(t, "--", "true").expectError(t, 1, "no space left on device")
		tr.gone(t)
	})
	t.Run("ReadOnly", func(t *testing.T) {
		tr := newTrail(t)
		tr.temporary = apart.Mount(t, "16k", syscall.MS_RDONLY)
		tr.run(t, "--", "true").expectError(t, 1, "read-only file system")
		tr.gone(t)
	})
	t.Run("Artifacts", func(t *testing.T) {
		tr := newTrail(t)
		directory := apart.Mount(t, "16k", syscall.MS_RDONLY)
		tr.run(t, "--keep=always", "--artifacts="+directory, "--", "true").expectError(t, 1, "--artifacts "+directory+" cannot be written: read-only file system")
		tr.run(t, "--save="+directory+"/state.tar", "--", "true").expectError(t, 1, "cannot be written: read-only file system")
		tr.gone(t)
	})
	t.Run("ArtifactsFull", func(t *testing.T) {
		tr := newTrail(t)
		directory := apart.Mount(t, "16k", 0)
		r := tr.run(t, "-q", "--keep=always", "--artifacts="+directory, "--", "true")
		r.expectError(t, 1, "no space left on device")
		tr.gone(t)
	})
	t.Run("SaveFull", func(t *testing.T) {
		tr := newTrail(t)
		directory := apart.Mount(t, "16k", 0)
		tr.run(t, "-q", "--save="+directory+"/state.tar", "--", "true").expectError(t, 1, "no space left on device")
		if entries, err := os.ReadDir(directory); err != nil || len(entries) > 0 {
			t.Errorf("half an archive is left: %v, %v", entries, err)
		}
		tr.gone(t)
	})
}
