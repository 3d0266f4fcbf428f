package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFishPrompt runs fish as "ws shell" starts it, but for the terminal, and asks it for its
// prompt.
func TestFishPrompt(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("fish is not installed")
	}
	home := t.TempDir()
	config := filepath.Join(home, ".config", "fish")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	const own = "function fish_prompt; echo -n \"$status mine> \"; end\n"
	if err := os.WriteFile(filepath.Join(config, "config.fish"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ reason, prompt, want string }{
		"Workspace":   {"the workspace comes first, and the own prompt sees the status of the last command", "echo acme:payments", "(ws acme:payments) 3 mine> "},
		"NoWorkspace": {"without a workspace there is the own prompt", "true", "3 mine> "},
		"Fails":       {"what cannot be found out is left out", "/no/such/program", "3 mine> "},
	} {
		t.Run(name, func(t *testing.T) {
			how, files := prompting(fish, home, tc.prompt, os.Getenv)
			if len(files) != 0 {
				t.Errorf("fish needs no files, but has %v", files)
			}
			cmd := exec.CommandContext(t.Context(), fish, append(how.args, "--command", "sh -c 'exit 3'; fish_prompt")...)
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out); got != tc.want {
				t.Errorf("%s: the prompt is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestPrompting holds that shells get what they read, and unknown ones nothing.
func TestPrompting(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	how, files := prompting("/usr/bin/zsh", "/private", "ws prompt", env(map[string]string{"HOME": "/home/o'brien"}))
	if len(files) != 2 || strings.Join(how.env, " ") != "ZDOTDIR=/private" {
		t.Errorf("zsh is started with %v and %v", how, files)
	}
	if !strings.Contains(files[0].content, `ZDOTDIR='/home/o'\''brien'`) {
		t.Errorf("names are quoted: %s", files[0].content)
	}
	if _, files := prompting("zsh", "/private", "ws prompt", env(map[string]string{"HOME": "/home/me", "ZDOTDIR": "/elsewhere"})); !strings.Contains(files[0].content, "'/elsewhere'") {
		t.Errorf("start-up files are where they always are: %s", files[0].content)
	}
	if how, files := prompting("bash.exe", "/private", "ws prompt", env(nil)); len(files) != 1 || how.args[0] != "--rcfile" {
		t.Errorf("bash is started with %v and %v", how, files)
	}
	if how, files := prompting("/bin/nu", "/private", "ws prompt", env(nil)); len(how.args)+len(how.env)+len(files) != 0 {
		t.Errorf("a shell that is not known is started with %v and %v", how, files)
	}
}
