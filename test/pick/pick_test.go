package pick

import (
	"bytes"
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
	down   = "\x1b[B"
	ctrlC  = "\x03"
	ctrlT  = "\x14"
	ctrlU  = "\x15"
	tab    = "\t"
)

// user is somebody with a kubeconfig.
type user struct {
	t          *testing.T
	kubeconfig string
}

// newUser returns one whose current workspace is root.
func newUser(t *testing.T, s *servertest.Server) *user {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.CurrentContext = "root"
	u := &user{t: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
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

// pick runs the picker in a terminal.
func (u *user) pick(args ...string) *terminal.Program {
	u.t.Helper()
	return terminal.Start(u.t, u.command(append([]string{"pick"}, args...)...), 80, 24)
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

// ends holds that the program ends with code, leaves nothing of the picker behind, and that
// the current workspace is then at.
func (u *user) ends(p *terminal.Program, code int, at string) {
	u.t.Helper()
	if got := p.Wait(); got != code {
		u.t.Errorf("exit code %d, want %d", got, code)
	}
	p.Look(func(s *terminal.Screen) {
		if err := s.Whole(); err != nil {
			u.t.Error(err)
		}
	})
	if screen := p.Screen(); strings.Contains(screen, "esc leave") || strings.Contains(screen, "❯") {
		u.t.Errorf("the picker is still there:\n%s", screen)
	}
	if got := u.current(); got != at {
		u.t.Errorf("the current workspace is %s, want %s", got, at)
	}
}

func TestPick(t *testing.T) {
	s := servertest.Start(t)
	s.Workspace(t, "root", "acme")
	s.Workspace(t, "root:acme", "payments")
	s.Workspace(t, "root:acme:payments", "eu")
	s.Workspace(t, "root", "lab")

	t.Run("Switch", func(t *testing.T) {
		u := newUser(t, s)
		p := u.pick()
		p.See(">\n❯ root\n", "root:acme:payments:eu", "5 of 5   enter switch   ctrl+t tree   esc leave")
		p.Press("pay")
		p.See("> pay", "❯ root:acme:payments", "2 of 5")
		p.Press(down)
		p.See("❯ root:acme:payments:eu")
		p.Press(enter)
		u.ends(p, 0, "root:acme:payments:eu")
		p.See("Current workspace is 'root:acme:payments:eu' (type root:universal).")
	})
	t.Run("Edit", func(t *testing.T) {
		u := newUser(t, s)
		p := u.pick("xyz")
		p.See("> xyz", "0 of 5")
		p.Press(enter + ctrlU + "acme:" + tab)
		p.See("> root:acme:payments", "2 of 5")
		p.Press(enter)
		u.ends(p, 0, "root:acme:payments")
	})
	t.Run("OnlyMatch", func(t *testing.T) {
		u := newUser(t, s)
		u.ends(u.pick("lab"), 0, "root:lab")
	})
	t.Run("Leave", func(t *testing.T) {
		for name, end := range map[string]func(*terminal.Program){
			"Escape":      func(p *terminal.Program) { p.Press(escape) },
			"Key":         func(p *terminal.Program) { p.Press(ctrlC) },
			"Interrupted": func(p *terminal.Program) { p.Signal(os.Interrupt) },
		} {
			t.Run(name, func(t *testing.T) {
				u := newUser(t, s)
				p := u.pick()
				p.See("5 of 5")
				end(p)
				u.ends(p, 130, "root")
			})
		}
		u := newUser(t, s)
		p := u.pick()
		p.See("5 of 5")
		p.Signal(syscall.SIGTERM)
		u.ends(p, 143, "root")
	})
	t.Run("Tree", func(t *testing.T) {
		u := newUser(t, s)
		p := u.pick()
		p.See("5 of 5")
		p.Press("lab" + ctrlT)
		p.See("● live", "lab")
		p.Press("q")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("Print", func(t *testing.T) {
		u := newUser(t, s)
		cmd := u.command("pick", "--print")
		var out bytes.Buffer
		cmd.Stdout = &out
		p := terminal.Start(t, cmd, 80, 24)
		p.See("5 of 5   enter print   esc leave")
		p.Press("lab" + enter)
		u.ends(p, 0, "root")
		if out.String() != ":root:lab\n" {
			t.Errorf("printed %q", out.String())
		}
	})
	t.Run("Accessible", func(t *testing.T) {
		u := newUser(t, s)
		p := u.pick("--accessible")
		p.See(" 1 root\n", "5 of 5 workspaces", "Number of the workspace, other text to look for, or nothing to leave:")
		p.Press("pay\r")
		p.See(" 1 root:acme:payments, universal, Ready", "2 of 5 workspaces")
		p.Press("1\r")
		if code := p.Wait(); code != 0 || u.current() != "root:acme:payments" {
			t.Errorf("exit code %d, the current workspace is %s", code, u.current())
		}
		if strings.Contains(p.Raw(), "\x1b[A") || strings.Contains(p.Raw(), "\x1b[J") {
			t.Errorf("something moved: %q", p.Raw())
		}
		p = u.pick("--accessible")
		p.See("nothing to leave:")
		p.Press("\r")
		if code := p.Wait(); code != 130 {
			t.Errorf("leaving with nothing has exit code %d", code)
		}
	})
	t.Run("External", func(t *testing.T) {
		notRun := filepath.Join(t.TempDir(), "picker")
		if err := os.WriteFile(notRun, []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			reason, picker string
			args           []string
			code           int
			at             string
		}{
			"Picks":         {"it is given paths, and what it prints is gone to", "grep -m1 payments:eu", nil, 0, "root:acme:payments:eu"},
			"Query":         {"what was typed narrows what it is given", "head -n1", []string{"eu"}, 0, "root:acme:payments:eu"},
			"Colon":         {"it may print a path as kubectl ws takes it", "sed -n s/^root:lab/:root:lab/p", nil, 0, "root:lab"},
			"Fails":         {"nobody has picked anything, and its code is ours", "grep nothing-like-this", nil, 1, "root"},
			"NotThere":      {"as shells have it", "no-such-picker", nil, 127, "root"},
			"NoSuchPath":    {"as shells have it", filepath.Join(t.TempDir(), "picker"), nil, 127, "root"},
			"NotExecutable": {"as shells have it", notRun, nil, 126, "root"},
		} {
			t.Run(name, func(t *testing.T) {
				u := newUser(t, s)
				cmd := u.command(append([]string{"pick"}, tc.args...)...)
				cmd.Env = append(cmd.Env, "KCP_PICKER="+tc.picker)
				p := terminal.Start(t, cmd, 80, 24)
				if code := p.Wait(); code != tc.code {
					t.Errorf("%s: exit code %d, want %d:\n%s", tc.reason, code, tc.code, p.Screen())
				}
				if at := u.current(); at != tc.at {
					t.Errorf("%s: the current workspace is %s, want %s", tc.reason, at, tc.at)
				}
				if tc.code > 1 && !strings.Contains(p.Screen(), "error: KCP_PICKER names a program that does not start") {
					t.Errorf("%s: nobody is told why:\n%s", tc.reason, p.Screen())
				}
			})
		}
	})
	t.Run("Narrow", func(t *testing.T) {
		u := newUser(t, s)
		cmd := u.command("pick", "pay")
		cmd.Env = append(cmd.Env, "LC_ALL=C", "NO_COLOR=1")
		p := terminal.Start(t, cmd, 40, 24)
		p.See("> root:acme:payments", "2 of 5")
		if raw := p.Raw(); strings.Contains(raw, "\x1b[32m") || strings.ContainsAny(raw, "❯…") {
			t.Errorf("colors or characters that do not arrive: %q", raw)
		}
		p.Press(escape)
		u.ends(p, 130, "root")
	})
}

// TestWatch: the tree is drawn in place when it changes.
func TestWatch(t *testing.T) {
	s := servertest.Start(t)
	s.Workspace(t, "root", "acme")
	u := newUser(t, s)
	p := terminal.Start(t, u.command("tree", "--watch"), 80, 24)
	p.See(".\n└── root\n    └── acme")
	s.Workspace(t, "root:acme", "eu")
	s.Workspace(t, "root", "lab")
	p.See(".\n└── root\n    ├── acme\n    │   └── eu\n    └── lab")
	if n := strings.Count(p.Screen(), "root"); n != 1 {
		t.Errorf("it is drawn %d times:\n%s", n, p.Screen())
	}
	p.Press(ctrlC)
	if code := p.Wait(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if screen := p.Screen(); !strings.Contains(screen, "lab") || strings.Contains(screen, "error") {
		t.Errorf("what was drawn stays, and nothing is wrong:\n%s", screen)
	}
}
