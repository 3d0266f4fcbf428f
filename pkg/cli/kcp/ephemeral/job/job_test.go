//go:build unix

package job

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/internal/servertest/another"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/self"
	"github.com/forkless/kcp/pkg/cli/run"
)

const patience = time.Minute

// nobody is told of groups.
func nobody(int) {}

// doomed makes this program one that runs a job and is about to be killed.
const doomed = "KCP_TEST_DOOMED_JOB"

// TestMain lets this program stand for one that ends at once.
func TestMain(m *testing.M) {
	if os.Getenv(doomed) != "" {
		cmd := exec.Command("sleep", "600")
		j, err := Start(cmd, nobody)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Println(cmd.Process.Pid)
		j.Wait()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == self.IdleVerb {
		return
	}
	os.Exit(m.Run())
}

// TestGroupIsKnownBefore shows that the group is told before the program is in it, and what
// group that is.
func TestGroupIsKnownBefore(t *testing.T) {
	for name, path := range map[string]string{"Quick": os.Getenv("PATH"), "WithoutAnyProgram": ""} {
		t.Run(name, func(t *testing.T) {
			sh, err := exec.LookPath("sh")
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", path)
			var told []int
			var out bytes.Buffer
			cmd := exec.Command(sh, "-c", "/bin/ps -o pgid= -p $$")
			cmd.Stdout = &out
			j, err := Start(cmd, func(group int) {
				if cmd.Process != nil {
					t.Error("the program runs already")
				}
				told = append(told, group)
			})
			if err != nil {
				t.Fatal(err)
			}
			if code := j.Wait(); code != 0 || len(told) != 1 || strings.TrimSpace(out.String()) != strconv.Itoa(told[0]) {
				t.Errorf("exit code %d; told %v, the program was in group %s", code, told, out.String())
			}
		})
	}
}

// runOf returns the exit code of a command that returns err, and what it prints.
func runOf(t *testing.T, err error) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	code = run.Execute(t.Context(), run.Streams{Out: &out, ErrOut: &out}, func(run.Streams) *cobra.Command {
		return &cobra.Command{Use: "test", RunE: func(*cobra.Command, []string) error { return err }}
	}, []string{})
	return code, out.String()
}

func TestFind(t *testing.T) {
	directory := t.TempDir()
	t.Setenv("PATH", directory+":/usr/bin:/bin")
	plain := filepath.Join(directory, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, program string
		code            int
		says            string
	}{
		"Found":         {"what is there can be run", "sh", 0, ""},
		"Missing":       {"a typing error is told as a shell tells it", "no-such-program", 127, "error: no-such-program: command not found\n"},
		"MissingPath":   {"so is a path that leads nowhere", "/no/such/program", 127, "error: /no/such/program: command not found\n"},
		"NotExecutable": {"a file that is no program is there, but cannot be run", plain, 126, "error: " + plain + " cannot be run: permission denied\n"},
		"Directory":     {"neither can a directory", directory, 126, "error: " + directory + " cannot be run: is a directory\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(tc.program)
			if code, says := runOf(t, err); code != tc.code || says != tc.says {
				t.Errorf("%s: exit code %d, %q; want %d, %q", tc.reason, code, says, tc.code, tc.says)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, script string
		want           int
	}{
		"Done":       {"success is success", "true", 0},
		"Failed":     {"a code is passed on as it is", "exit 42", 42},
		"Killed":     {"a signal is told as shells do", "kill -KILL $$", 137},
		"Terminated": {"that of a signal that can be caught too", "kill -TERM $$", 143},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := Start(exec.Command("sh", "-c", tc.script), nobody)
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Wait(); got != tc.want {
				t.Errorf("%s: exit code %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSignalIsPassedOnOnce sends this process a signal, which only the program is to notice.
func TestSignalIsPassedOnOnce(t *testing.T) {
	directory := t.TempDir()
	ready, heard := filepath.Join(directory, "ready"), filepath.Join(directory, "heard")
	cmd := exec.Command("sh", "-c", `trap 'echo x >>"$2"; exit 7' USR1; : >"$1"; while :; do sleep 0.01; done`, "sh", ready, heard)
	j, err := Start(cmd, nobody)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program listens", func() bool { _, err := os.Stat(ready); return err == nil })
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if code := j.Wait(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	if content, err := os.ReadFile(heard); string(content) != "x\n" {
		t.Errorf("heard %q, %v", content, err)
	}
}

// TestEnd ends a program that does not want to.
func TestEnd(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	j, err := Start(exec.Command("sh", "-c", `trap '' TERM; : >"$1"; while :; do sleep 0.01; done`, "sh", ready), nobody)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program listens", func() bool { _, err := os.Stat(ready); return err == nil })
	j.End(10 * time.Millisecond)
	if code := j.Wait(); code != 137 {
		t.Errorf("exit code %d", code)
	}
}

// TestNothingIsLeftBehind starts a program that leaves another one behind.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, script := range map[string]string{
		"Willing":   `sleep 600 >/dev/null 2>&1 & echo $!`,
		"Unwilling": `(trap '' TERM; while :; do sleep 0.01; done) >/dev/null 2>&1 & echo $!`,
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := exec.Command("sh", "-c", script)
			cmd.Stdout = &out
			j, err := Start(cmd, nobody)
			if err != nil {
				t.Fatal(err)
			}
			if code := j.Wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			eventually(t, "its group is empty", func() bool { return !runs(strings.TrimSpace(out.String())) })
		})
	}
}

// TestKilledAlone: where nobody ends the group of a process that was killed, the system at
// least ends the program.
func TestKilledAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not do so")
	}
	killed := another.Start(t, doomed+"=yes")
	program := killed.Line(t)
	killed.Kill(t)
	eventually(t, "its program is gone", func() bool { return !runs(program) })
}

func TestNotAProgram(t *testing.T) {
	for name, tc := range map[string]struct{ reason, content, want string }{
		"Binary":        {"the system says why", "\x00\x01\x02", "exec format error"},
		"NoInterpreter": {"that it is not there would be a riddle", "#!/no/such/program\n", "what is to interpret it is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, []byte(tc.content), 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := Start(exec.Command(file), nobody)
			if code, says := runOf(t, err); code != 126 || says != "error: "+file+" cannot be run: "+tc.want+"\n" {
				t.Errorf("%s: exit code %d, %q", tc.reason, code, says)
			}
		})
	}
}

// runs says whether a process runs; one that only waits to be asked for its exit code does
// not.
func runs(pid string) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

func eventually(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !come(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}
