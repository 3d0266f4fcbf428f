//go:build linux

package ephemeral

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/forkless/kcp/test/programs"
)

var long = os.Getenv("KCP_TEST_LONG") != ""

// TestParallel runs many at the same time. Each has a workspace in which there is nothing of
// the others.
func TestParallel(t *testing.T) {
	count := 8
	if long {
		count = 100
	}
	kcp, tr := programs.Path(t, "kcp"), newTrail(t)
	script := `set -e
kubectl create configmap mine --from-literal=number=$1 >/dev/null
test "$(kubectl get configmap mine -o jsonpath={.data.number})" = $1
test "$(kubectl get configmaps -o name | grep -c mine)" = 1
exit $(($1 % 3))`
	path := "PATH=" + programs.Directory(t) + ":" + os.Getenv("PATH")
	began := time.Now()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			cmd := exec.Command(kcp, "run", "--start-timeout=10m", "--", "sh", "-c", script, "sh", fmt.Sprint(i))
			cmd.Env = append(tr.env(), path)
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != i%3 {
				t.Errorf("run %d: exit code %d (%v)\n%s", i, code, err, out)
			}
		})
	}
	all.Wait()
	t.Logf("%d runs took %s", count, time.Since(began).Round(time.Millisecond))
	tr.gone(t)
}

// TestKilled kills runs at any moment, those with a command and those that were detached, and
// waits until nothing is left of them.
func TestKilled(t *testing.T) {
	rounds := 6
	if long {
		rounds = 200
	}
	kcp := programs.Path(t, "kcp")
	var longest time.Duration
	for round := range rounds {
		// The same moments each time, as far as other processes let it be the same: before the
		// server is ready, and with it.
		after := time.Duration(rand.New(rand.NewPCG(uint64(round), 0)).IntN(900)) * time.Millisecond
		tr := newTrail(t)
		args := []string{"run", "-q", "--", "sh", "-c", "sleep 600 & sleep 600"}
		if round%4 == 3 {
			args = []string{"run", "--detach", "-q"}
		}
		cmd := exec.Command(kcp, args...)
		cmd.Env = tr.env()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tr.pids = append(tr.pids, cmd.Process.Pid)
		time.Sleep(after)
		tr.owners()
		for _, pid := range tr.pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		// What returns when it is detached may have been about to start the one that stays.
		_ = cmd.Wait()
		for _, pid := range stays(tr) {
			tr.pids = append(tr.pids, pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		took := tr.gone(t)
		longest = max(longest, took)
	}
	t.Logf("%d runs were killed; the last trace of one was gone after %s at the latest", rounds, longest.Round(time.Millisecond))
}

// stays returns the processes that --detach leaves running.
func stays(tr *trail) (pids []int) {
	for _, pid := range processes() {
		if strings.Contains(command(pid), " --detached ") && bytes.Contains(read("/proc/%d/environ", pid), []byte(tr.mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestWatcherKilledToo kills a run together with its watcher and its command, as systems do
// that end a container. The next one cleans up.
func TestWatcherKilledToo(t *testing.T) {
	kcp, tr := programs.Path(t, "kcp"), newTrail(t)
	// A program that answers is past the moment in which it has no environment yet.
	cmd := exec.Command(kcp, "run", "--", "cat")
	cmd.Env = tr.env()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "up\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	tr.pids = append(tr.pids, cmd.Process.Pid)
	for _, pid := range processes() {
		if tr.watches(pid) || bytes.Contains(read("/proc/%d/environ", pid), []byte(tr.mark)) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = cmd.Wait()
	next := exec.Command(kcp, "run", "--", "true")
	next.Env = tr.env()
	if out, err := next.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr.gone(t)
}

// TestSignals ends runs as terminals and job runners do, at any moment.
func TestSignals(t *testing.T) {
	kcp := programs.Path(t, "kcp")
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, after := range []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 0} {
			tr := newTrail(t)
			// The shell does not stay: one that is about to start a program may miss an
			// interrupt, and wait for that program, by whomever it is sent.
			cmd := exec.Command(kcp, "run", "--", "sh", "-c", "echo up; exec sleep 600")
			cmd.Env = tr.env()
			var errOut bytes.Buffer
			cmd.Stderr = &errOut
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			tr.pids = append(tr.pids, cmd.Process.Pid)
			if after > 0 {
				time.Sleep(after)
			} else if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if after > 0 && !cmd.ProcessState.Exited() {
				// It had not come as far as to listen.
				tr.gone(t)
				continue
			}
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("%s: exit code %d\n%s", signal, code, errOut.String())
			}
			tr.gone(t)
		}
	}
}
