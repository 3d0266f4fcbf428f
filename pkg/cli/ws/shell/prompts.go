package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// launch is how a shell is started.
type launch struct {
	args []string
	env  []string
}

// file is a file that a shell reads when it starts.
type file struct{ name, content string }

// prompting returns how to start the shell program so that its prompt begins with the
// workspace, and the files in dir that it needs for that. prompt is the command line that
// prints the workspace. Shells that are not known start as they always do.
func prompting(program, dir, prompt string, getenv func(string) string) (launch, []file) {
	switch strings.TrimSuffix(filepath.Base(program), ".exe") {
	case "bash":
		rc := filepath.Join(dir, "bashrc")
		return launch{args: []string{"--rcfile", rc, "-i"}}, []file{{rc, bashrc(prompt)}}
	case "zsh":
		return zsh(dir, prompt, getenv)
	case "fish":
		return launch{args: []string{"--init-command", fishInit(prompt)}}, nil
	default:
		return launch{}, nil
	}
}

// bashrc reads what bash would have read, and then puts the workspace before the prompt.
// It is looked up before each prompt, for it changes, and without disturbing $?.
func bashrc(prompt string) string {
	return fmt.Sprintf(`for rc in /etc/bash.bashrc "$HOME/.bashrc"; do
  if [ -r "$rc" ]; then . "$rc"; fi
done
unset rc
__kubectl_ws_prompt() {
  local status=$?
  KUBECTL_WS_PROMPT="$(%s 2>/dev/null)"
  return $status
}
PROMPT_COMMAND="__kubectl_ws_prompt${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
PS1='${KUBECTL_WS_PROMPT:+(ws $KUBECTL_WS_PROMPT) }'"$PS1"
`, prompt)
}

// zsh is started with a directory of start-up files of ours, each of which reads the
// user's in its place.
func zsh(dir, prompt string, getenv func(string) string) (launch, []file) {
	own := getenv("ZDOTDIR")
	if own == "" {
		own = getenv("HOME")
	}
	read := func(name string) string {
		return fmt.Sprintf("if [[ -r $ZDOTDIR/%[1]s ]]; then . $ZDOTDIR/%[1]s; fi\n", name)
	}
	// What the first file says about where the others are holds.
	env := "ZDOTDIR=" + quote(own) + "\n" + read(".zshenv") + "KUBECTL_WS_ZDOTDIR=$ZDOTDIR\nZDOTDIR=" + quote(dir) + "\n"
	rc := "ZDOTDIR=$KUBECTL_WS_ZDOTDIR\nunset KUBECTL_WS_ZDOTDIR\n" + read(".zshrc") + fmt.Sprintf(`setopt prompt_subst
__kubectl_ws_prompt() { KUBECTL_WS_PROMPT="$(%s 2>/dev/null)" }
precmd_functions=(__kubectl_ws_prompt $precmd_functions)
PROMPT='${KUBECTL_WS_PROMPT:+(ws $KUBECTL_WS_PROMPT) }'"$PROMPT"
`, prompt)
	return launch{args: []string{"-i"}, env: []string{"ZDOTDIR=" + dir}},
		[]file{{filepath.Join(dir, ".zshenv"), env}, {filepath.Join(dir, ".zshrc"), rc}}
}

// fishInit puts the workspace before what the user's prompt prints.
func fishInit(prompt string) string {
	return fmt.Sprintf(`functions --copy fish_prompt __kubectl_ws_user_prompt
function fish_prompt
  set --local last $status
  set --local workspace (%s 2>/dev/null)
  if test -n "$workspace"
    printf '(ws %%s) ' $workspace
  end
  function __kubectl_ws_status; return $argv[1]; end
  __kubectl_ws_status $last
  __kubectl_ws_user_prompt
end`, prompt)
}

// quote returns s as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// write writes the files, for nobody else to read or change.
func write(files []file) error {
	for _, f := range files {
		if err := os.WriteFile(f.name, []byte(f.content), 0o600); err != nil {
			return fmt.Errorf("preparing the prompt: %w", err)
		}
	}
	return nil
}
