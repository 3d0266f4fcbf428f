//go:build unix

package watcher

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/archive/place"
	"github.com/forkless/kcp/internal/rootdir"
	"github.com/forkless/kcp/internal/servertest/another"
)

const (
	// doomed makes this program a process that is about to be killed.
	doomed   = "KCP_TEST_DOOMED"
	patience = time.Minute
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(Main(os.Args[2:], os.Stdin))
	}
	if os.Getenv(doomed) != "" {
		beDoomed()
		return
	}
	os.Exit(m.Run())
}

// beDoomed has a watcher, a directory and a process group, says so, and waits to be killed.
func beDoomed() {
	w, err := Start()
	if err != nil {
		panic(err)
	}
	scratch, err := rootdir.NewTemporary()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	w.Group(cmd.Process.Pid)
	child, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	at := filepath.Join(os.Getenv("TMPDIR"), "state tar")
	w.Writing(at)
	file, err := place.Open(at)
	if err != nil {
		panic(err)
	}
	fmt.Println(w.cmd.Process.Pid, cmd.Process.Pid, strings.TrimSpace(child), scratch.Path(), strings.ReplaceAll(file.Name(), " ", "\x00"))
	select {}
}

// TestKilled shows that nothing is left of a process that was killed, nor of its watcher.
func TestKilled(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	killed := another.Start(t, doomed+"=yes")
	words := strings.Fields(killed.Line(t))
	scratch := words[3]
	if _, err := os.Stat(scratch); err != nil {
		t.Fatalf("there is no directory to begin with: %v", err)
	}
	killed.Kill(t)
	for _, left := range []string{scratch, scratch + ".lock", strings.ReplaceAll(words[4], "\x00", " ")} {
		eventually(t, left+" is gone", func() bool {
			_, err := os.Stat(left)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	for _, word := range words[:3] {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "process "+word+" is gone", func() bool { return !runs(pid) })
	}
}

// TestReleased shows that a watcher that is not needed any more goes at once, and takes
// nothing with it.
func TestReleased(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	scratch, err := rootdir.NewTemporary()
	if err != nil {
		t.Fatal(err)
	}
	w.Release()
	if _, err := os.Stat(scratch.Path()); err != nil {
		t.Errorf("the directory of a process that is there was removed: %v", err)
	}
	if err := scratch.Remove(); err != nil {
		t.Error(err)
	}
}

func TestListen(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, said string
		want         told
	}{
		"Nothing":  {"a process may end before it has started anything", "", told{}},
		"Group":    {"the group is named", "group 4711\n", told{group: 4711}},
		"Over":     {"a program that has ended leaves nothing to kill", "group 4711\ngroup 0\n", told{}},
		"Half":     {"a line that was cut off is not acted upon unless it is whole", "group 47x", told{}},
		"Unknown":  {"words of other versions do no harm", "shoot 1\n", told{}},
		"Negative": {"numbers that would mean everybody are no groups", "group -1\n", told{group: -1}},
		"Writing":  {"names of files are any text", "group 1\nwriting \"/a b\\n\"\n", told{group: 1, writing: "/a b\n"}},
		"HalfFile": {"what is not the whole name is none", "writing \"/a", told{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := listen(strings.NewReader(tc.said)); got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMainArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"x"}, {"1", "2"}} {
		if code := Main(args, io.MultiReader()); code != 1 {
			t.Errorf("arguments %v: exit code %d", args, code)
		}
	}
}

// runs says whether a process runs; one that only waits to be asked for its exit code does
// not.
func runs(pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		_, state, _ := strings.Cut(string(content), ") ")
		return !strings.HasPrefix(state, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

func eventually(t *testing.T, what string, come func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !come(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
	}
}
