// Package shell is the command "kubectl ws shell": a shell with a kubeconfig of its own.
// Going from workspace to workspace inside changes nothing outside, so that several
// terminals can be in several workspaces. Its kubeconfig knows this one server only, and
// is gone when the shell ends.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/child"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Variable is the environment variable that says, inside, which workspace the shell was
// started in.
const Variable = "KCP_WORKSPACE_SHELL"

// Options are what the command is called with.
type Options struct {
	// Path names the workspace, "" for the current one.
	Path string
	// NoPrompt leaves the prompt of the shell as it is.
	NoPrompt bool
	// ReadOnly makes our commands refuse to write inside.
	ReadOnly bool

	finder *target.Finder
	// prompt is the command line that prints the workspace.
	prompt string
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.NoPrompt, "no-prompt", o.NoPrompt, "Leave the prompt of the shell as it is")
	flags.BoolVar(&o.ReadOnly, "read-only", o.ReadOnly, "Let the kubectl ws and kubectl kcp commands inside refuse to write; kubectl itself is not restrained")
}

// Complete finds the command that prompts are made with: this program.
func (o *Options) Complete(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		o.Path = args[0]
	}
	program, err := os.Executable()
	if err != nil {
		o.NoPrompt = true
		return nil //nolint:nilerr // because a shell without a prompt of ours is one all the same
	}
	words := []string{quote(program)}
	// Below the root there may be a command before this one.
	for c := cmd.Parent(); c != nil && c.HasParent(); c = c.Parent() {
		words = append([]string{words[0], c.Name()}, words[1:]...)
	}
	o.prompt = strings.Join(append(words, "prompt"), " ")
	return nil
}

// Run runs the shell.
func (o *Options) Run(ctx context.Context) error {
	program := shellProgram(os.Getenv)
	if _, err := osexec.LookPath(program); err != nil {
		return run.NotStarted(program, err)
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	p, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	if err := switching.Check(ctx, c, p); err != nil {
		return err
	}
	config, err := origin.Reduced(p)
	if err != nil {
		return err
	}
	if o.ReadOnly {
		kubeconfig.MakeReadOnly(config)
	}

	keeper := child.Listen()
	defer keeper.Close()
	keeper.Hangup, keeper.Attached = true, display.IsTerminal(o.finder.Streams.In)
	file, err := kubeconfig.WritePrivate(config)
	if err != nil {
		return err
	}
	o.banner(p)
	code, err := o.start(keeper, program, file, p)
	err = errors.Join(err, file.Remove())
	switch s := keeper.Signal(); {
	case err != nil:
		return run.Code(max(code, 1), err)
	case s != nil && s != os.Interrupt:
		// The shell was told to end, and so were we.
		return run.Exit(run.SignalCode(s))
	default:
		return run.Exit(code)
	}
}

// banner says where one is.
func (o *Options) banner(p logicalcluster.Path) {
	if o.finder.Display.Quiet {
		return
	}
	errOut := o.finder.Streams.ErrOut
	_, _ = fmt.Fprintf(errOut, "Shell in workspace %s. Switching stays inside; \"exit\" leaves it.\n", p)
	if o.ReadOnly {
		_, _ = fmt.Fprintln(errOut, "Read-only: kubectl ws and kubectl kcp refuse to write here. kubectl itself is not restrained.")
	}
}

// start runs the shell until it ends.
func (o *Options) start(keeper *child.Keeper, program string, private *kubeconfig.PrivateFile, p logicalcluster.Path) (int, error) {
	var how launch
	if !o.NoPrompt {
		var files []file
		how, files = prompting(program, filepath.Dir(private.Name), o.prompt, os.Getenv)
		if err := write(files); err != nil {
			return 1, err
		}
	}
	cmd := osexec.Command(program, how.args...) //nolint:noctx // because the keeper passes signals on, and lets the shell end by itself
	cmd.Env = append(os.Environ(), "KUBECONFIG="+private.Name, Variable+"="+p.String())
	cmd.Env = append(cmd.Env, how.env...)
	streams := o.finder.Streams
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.ErrOut
	return keeper.Run(cmd)
}

// shellProgram returns the shell of the user.
func shellProgram(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return cmp.Or(getenv("SHELL"), getenv("COMSPEC"), "cmd.exe")
	}
	return cmp.Or(getenv("SHELL"), "/bin/sh")
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "shell [PATH]",
		Short: "Start a shell in a workspace, with a kubeconfig of its own",
		Long: `Start your shell ($SHELL) in the current workspace, or in the one at PATH. It has a
private kubeconfig that knows this server only: going to other workspaces inside changes
nothing outside. The file is removed when the shell ends. Shells may be nested;
` + Variable + ` is the workspace that the shell was started in.

The prompt of bash, zsh and fish begins with the workspace.

With --read-only the commands of these plugins refuse to write. kubectl itself is not
restrained.

Exit codes: that of the shell, 1 it could not be started, 126 it cannot be run, 127 it was
not found.`,
		Example: `  kubectl ws shell :root:acme:payments
  kubectl ws shell @prod --read-only`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(cmd, args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
