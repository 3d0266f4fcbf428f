package tui

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/test/programs"
	"github.com/forkless/kcp/test/terminal"
)

// The keys as a terminal sends them.
const (
	enter  = "\r"
	escape = "\x1b"
	up     = "\x1b[A"
	down   = "\x1b[B"

	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// user is somebody with a kubeconfig.
type user struct {
	t          *testing.T
	server     *servertest.Server
	kubeconfig string
}

// newUser returns one whose current workspace is path.
func newUser(t *testing.T, s *servertest.Server, path string) *user {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.CurrentContext = "root"
	config.Clusters["root"].Server = s.URL() + "/clusters/" + path
	u := &user{t: t, server: s, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if err := clientcmd.WriteToFile(*config, u.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return u
}

// command returns a call of the plugin. The environment of the test has no say in it.
func (u *user) command(args ...string) *exec.Cmd {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), programs.Path(u.t, "kubectl-ws"), args...)
	cmd.Env = []string{
		"KUBECONFIG=" + u.kubeconfig, "HOME=" + filepath.Dir(u.kubeconfig),
		"PATH=" + programs.Directory(u.t) + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	return cmd
}

// open shows the tree in a terminal.
func (u *user) open(width, height int, args ...string) *terminal.Program {
	u.t.Helper()
	return terminal.Start(u.t, u.command(append([]string{"-i"}, args...)...), width, height)
}

// current returns the current workspace.
func (u *user) current() string {
	u.t.Helper()
	out, err := u.command(".", "--short").Output()
	if err != nil {
		u.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// whole holds that the terminal is as the program found it.
func whole(t *testing.T, p *terminal.Program) {
	t.Helper()
	p.Look(func(s *terminal.Screen) {
		if err := s.Whole(); err != nil {
			t.Error(err)
		}
		if len(s.Unknown) > 0 {
			t.Errorf("the screen may be wrong, these sequences are not known: %q", s.Unknown)
		}
	})
}

// TestTree shows a server that all tests share, each with a workspace of its own.
func TestTree(t *testing.T) {
	s := servertest.Start(t)
	tests := map[string]func(t *testing.T, s *servertest.Server){
		"Switching": testSwitching,
		"Live":      testLive,
		"Deleting":  testDeleting,
		"Shell":     testShell,
		"Stopping":  testStopping,
		"File":      testFile,
		"Quitting":  testQuitting,
		"Resizing":  testResizing,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// testSwitching: enter leaves the tree and goes to the workspace, and says so on the
// screen that was there before.
func testSwitching(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "switching")
	s.Workspace(t, "root:switching", "east")
	s.Workspace(t, "root:switching", "west")
	u := newUser(t, s, "root:switching")
	p := u.open(100, 30)
	p.See("● live", "→  ▾ switching", "east", "west", "● here")
	p.Press(down + down)
	p.See("→    ▸ west", "WorkspaceInitialized")
	p.Press(enter)
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.See("Current workspace is 'root:switching:west' (type root:universal).")
	whole(t, p)
	if got := u.current(); got != "root:switching:west" {
		t.Errorf("the current workspace is %s", got)
	}
}

// testLive: what others do appears by itself, and what is done here is done.
func testLive(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "live")
	u := newUser(t, s, "root:live")
	p := u.open(100, 30)
	p.See("● live", "→    live")
	s.Workspace(t, "root:live", "by-others")
	p.See("▸ by-others")
	p.Press("c")
	p.See("Create below root:live", "name")
	p.Press("by-me" + enter)
	p.See("▸ by-me", "created root:live:by-me")
	p.Press("/by-m")
	p.Lose("by-others")
	p.Press(enter + escape)
	p.See("by-others")
	p.Press("@")
	p.See("Requests", "POST", "/clusters/root:live/apis/tenancy.kcp.io/v1alpha1/workspaces")
	// Together the two would be one key, alt+w.
	p.Press(escape)
	p.Lose("Requests")
	p.Press("w")
	p.See("Why root:live")
	p.Press("q")
	p.Lose("Why root:live")
	p.Press("q")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	whole(t, p)
}

// testDeleting: a workspace goes when its name was typed.
func testDeleting(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "deleting")
	s.Workspace(t, "root:deleting", "old")
	u := newUser(t, s, "root:deleting")
	p := u.open(100, 30)
	p.See("● live", "▸ old")
	p.Press(down)
	p.See("→    ▸ old")
	p.Press("d")
	p.See("Delete root:deleting:old", "objects in", "Type old to delete all of this")
	p.Press("old" + enter)
	// The dialog is over the tree and takes keys until the server has answered.
	p.See("root:deleting:old is being deleted")
	p.Lose("▸ old")
	p.Press("q")
	p.Wait()
	whole(t, p)
}

// testShell: a shell has the terminal, and the tree is there again after it.
func testShell(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "shell")
	u := newUser(t, s, "root:shell")
	cmd := u.command("-i")
	cmd.Env = append(cmd.Env, "SHELL=/bin/sh", "HOME="+t.TempDir())
	p := terminal.Start(t, cmd, 100, 30)
	p.See("● live", "→    shell")
	p.Press("s")
	p.See("Shell in workspace root:shell.")
	p.Press("echo in $KCP_WORKSPACE_SHELL\r")
	p.See("in root:shell")
	p.Press("exit\r")
	p.See("● live", "→    shell", "q quit")
	p.Press("q")
	p.Wait()
	whole(t, p)
}

// testStopping: ctrl+z gives the terminal back to the shell, whole, and the tree is drawn
// again when the shell continues it.
func testStopping(t *testing.T, s *servertest.Server) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("only a shell with jobs can continue what it has stopped")
	}
	s.Workspace(t, "root", "stopping")
	u := newUser(t, s, "root:stopping")
	// What the terminal is left in is to be the doing of the tree.
	inputrc := filepath.Join(t.TempDir(), "inputrc")
	if err := os.WriteFile(inputrc, []byte("set enable-bracketed-paste off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := u.command()
	cmd.Env = append(cmd.Env, "PS1=mine> ", "HISTFILE=", "INPUTRC="+inputrc)
	cmd.Path, cmd.Args = bash, []string{"bash", "--norc", "--noprofile", "-i"}
	p := terminal.Start(t, cmd, 100, 20)
	p.See("mine>")
	p.Press(programs.Path(t, "kubectl-ws") + " -i\r")
	p.See("● live", "→    stopping")
	p.Press(ctrlZ)
	p.See("Stopped")
	whole(t, p)
	p.Press("echo between $((6*7))\r")
	p.See("between 42")
	s.Workspace(t, "root", "stopped")
	p.Press("fg\r")
	p.See("● live", "→    stopping", "stopped")
	p.Press("q")
	p.Lose("● live")
	p.Press("exit\r")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	whole(t, p)
}

// testFile: what was written of a server is shown without it.
func testFile(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "file")
	s.Workspace(t, "root:file", "inside")
	u := newUser(t, s, "root:file")
	file := filepath.Join(t.TempDir(), "out.tgz")
	write := u.command()
	write.Path = programs.Path(t, "kubectl-kcp")
	write.Args = []string{"kubectl-kcp", "bundle", ":root:file", "-f", file}
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	nobody := &user{t: t, kubeconfig: filepath.Join(t.TempDir(), "none")}
	p := nobody.open(100, 30, "--from", file)
	p.See("○ offline out.tgz", "▾ file", "inside")
	p.Press("c")
	p.See("not with a file, which can be looked at only")
	p.Press("q")
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	whole(t, p)
}

// testQuitting: however it ends, the terminal is whole.
func testQuitting(t *testing.T, s *servertest.Server) {
	ends := map[string]struct {
		reason string
		end    func(p *terminal.Program)
		code   int
	}{
		"Key":        {"q leaves", func(p *terminal.Program) { p.Press("q") }, 0},
		"Escape":     {"so does esc", func(p *terminal.Program) { p.Press(escape) }, 0},
		"Interrupt":  {"ctrl-c is a key here, and no failure", func(p *terminal.Program) { p.Press(ctrlC) }, 0},
		"Terminated": {"a signal ends it as any command", func(p *terminal.Program) { p.Signal(syscall.SIGTERM) }, 143},
		"Killed":     {"somebody else sends what ctrl-c would", func(p *terminal.Program) { p.Signal(os.Interrupt) }, 130},
	}
	for name, tc := range ends {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, s, "root")
			p := u.open(80, 24)
			p.See("● live")
			tc.end(p)
			if code := p.Wait(); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			whole(t, p)
		})
	}
	t.Run("AtAnyMoment", func(t *testing.T) {
		for i := range 12 {
			u := newUser(t, s, "root")
			p := u.open(80, 24)
			// The moments are those at which there is so much output, the last ones that at
			// which everything is there.
			p.Until("output", func(screen string) bool { return len(p.Raw()) >= i*60 || strings.Contains(screen, "● live") })
			p.Press(ctrlC)
			p.Wait()
			whole(t, p)
		}
	})
}

// testResizing: sizes that come faster than frames leave the last one.
func testResizing(t *testing.T, s *servertest.Server) {
	s.Workspace(t, "root", "resizing")
	u := newUser(t, s, "root:resizing")
	p := u.open(100, 30)
	p.See("● live", "╭─ Workspaces")
	for i := range 40 {
		p.Resize(20+i*7%190, 4+i*5%50)
	}
	p.Resize(25, 5)
	p.See("please make room")
	p.Resize(60, 12)
	p.See("→   resizing", "q quit", "● live")
	p.Until("no border at 60 columns", func(screen string) bool { return !strings.Contains(screen, "╭") })
	p.Resize(120, 20)
	p.See("╭─ Workspaces", "╭─ root:resizing", "Overview")
	p.Press("q")
	p.Wait()
	whole(t, p)
}

// TestServerRestart: the tree survives the server, and says meanwhile that it is old.
func TestServerRestart(t *testing.T) {
	root := t.TempDir()
	// The administrator's token of the kubeconfig ends with the server; this one does not.
	users := servertest.WithUsers(t)
	s := servertest.StartIn(t, root, users)
	s.Workspace(t, "root", "before")
	address, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, s, "root")
	p := u.open(100, 20, "--token", "admin-token")
	p.See("● live", "▸ before")
	s.Stop()
	p.See("○ reconnecting", "before")
	again := servertest.StartIn(t, root, users, fmt.Sprintf("--secure-port=%s", address.Port()))
	again.Workspace(t, "root", "since")
	p.See("● live", "▸ before", "▸ since")
	p.Press("q")
	p.Wait()
	whole(t, p)
}

// TestNoTerminal: without a terminal there is an error that says what to use instead.
func TestNoTerminal(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: https://127.0.0.1:1/clusters/root}}]\n"
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-i"}, {"tree", "-i"}} {
		u := &user{t: t, kubeconfig: kubeconfig}
		cmd := u.command(args...)
		out, err := cmd.CombinedOutput()
		if want := "error: the interactive tree needs a terminal\nhint: kubectl ws tree\n"; err == nil || cmd.ProcessState.ExitCode() != 1 || string(out) != want {
			t.Errorf("kubectl ws %s: %v, it says %q", strings.Join(args, " "), err, out)
		}
	}
}
