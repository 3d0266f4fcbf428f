package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// Shells are those that there are scripts for.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// WriteScript writes the script that makes a shell complete the program called name, an
// executable on PATH.
func WriteScript(w io.Writer, shell, name string) error {
	// The script calls whatever program is typed; only its name is in it.
	program := &cobra.Command{Use: name}
	switch shell {
	case "bash":
		return program.GenBashCompletionV2(w, true)
	case "zsh":
		return program.GenZshCompletion(w)
	case "fish":
		return program.GenFishCompletion(w, true)
	case "powershell":
		return program.GenPowerShellCompletionWithDesc(w)
	default:
		return fmt.Errorf("unknown shell %q, known are %s", shell, strings.Join(Shells(), ", "))
	}
}

// newScript returns the command that prints the script of a program. called is what
// people type for it: "kubectl ws" for kubectl-ws.
func newScript(called string) *cobra.Command {
	program := strings.ReplaceAll(called, " ", "-")
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes the executable in a shell",
		Long: fmt.Sprintf(`Print a script for bash, zsh, fish or powershell that completes the arguments of %[2]s
when it is called as %[1]s.

Arguments of "%[2]s" are completed by kubectl's own script, which asks %[3]s:
"kubectl kcp setup" puts that on PATH, and says what your shell needs.

Exit codes: 0 done, 1 any error.`, program, called, "kubectl_complete-"+strings.ReplaceAll(strings.TrimPrefix(program, "kubectl-"), "-", "_")),
		Example: fmt.Sprintf(`  source <(%[1]s completion bash)
  %[1]s completion zsh > "${fpath[1]}/_%[2]s"
  %[1]s completion fish > ~/.config/fish/completions/%[2]s.fish`, called, program),
		Args:      run.Args(cobra.ExactArgs(1)),
		ValidArgs: Shells(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := WriteScript(cmd.OutOrStdout(), args[0], program); err != nil {
				return run.Misuse(cmd, err)
			}
			return nil
		},
	}
}
