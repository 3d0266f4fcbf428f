// Package doctor is the command "kubectl kcp doctor": whether everything that the plugins
// need is there and goes together, from the kubeconfig to the server to what is on PATH.
//
// It gathers facts (local.go, remote.go) and judges them (judge.go). Nothing of what is
// secret in a kubeconfig is among the facts.
package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/pkg/version"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/onpath"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// unstamped is how the version begins of a program that was built without one.
const unstamped = "v0.0.0-master"

// Options are what the command is called with.
type Options struct {
	finder *target.Finder
	output *output.Flags
	// plugins are ours, by the words behind "kubectl".
	plugins []string
	now     func() time.Time
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) { o.output.AddFlags(flags) }

// Run prints what was found. The error is run.ErrNo if something does not work.
func (o *Options) Run(ctx context.Context) error {
	f := o.gather(ctx)
	d := diagnosis.New("setup", f.kubeconfig.server, f.now)
	for _, c := range judge(f) {
		d.Add(c)
		if c.State == diagnosis.Failed {
			d.Block(c.Name+": "+c.Message, c.Next...)
		}
	}
	if o.output.Document() {
		if err := o.output.PrintView(o.finder.Streams.Out, d); err != nil {
			return err
		}
		return errFailed(d.Checks)
	}
	write(o.finder.Streams.Out, o.finder.Display.For(o.finder.Streams.Out), d.Checks)
	return errFailed(d.Checks)
}

func (o *Options) gather(ctx context.Context) facts {
	f := facts{now: o.now(), completes: map[string]bool{}, kubectl: kubectlVersion(ctx)}
	if stamp := version.Get().GitVersion; !strings.HasPrefix(stamp, unstamped) {
		f.version = stamp
	}
	k, snapshot := lookAtKubeconfig(o.finder.Flags)
	if snapshot != nil {
		if config, err := snapshot.RESTConfig(); err != nil {
			k.err = err
		} else {
			k.clientExpiry = clientExpiry(config)
			f.server = lookAtServer(ctx, o.finder, config, o.now)
		}
	}
	f.kubeconfig = k
	var names []string
	folders := onpath.Folders()
	for _, plugin := range o.plugins {
		names = append(names, "kubectl-"+plugin)
		f.completes[plugin] = len(onpath.Find("kubectl_complete-"+strings.ReplaceAll(plugin, "-", "_"), folders)) > 0
	}
	f.programs = lookForPrograms(ctx, names)
	return f
}

// write prints a line for each check, and what to do next below it.
func write(w io.Writer, look display.Display, checks []diagnosis.Check) {
	states, names := 0, 0
	for _, c := range checks {
		states, names = max(states, len(c.State)), max(names, display.Cells(c.Name))
	}
	roles := map[diagnosis.State]display.Role{diagnosis.OK: display.OK, diagnosis.Warning: display.Warning, diagnosis.Failed: display.Failed, diagnosis.Unknown: display.Unknown}
	for _, c := range checks {
		state := look.Style(roles[c.State], string(c.State)) + strings.Repeat(" ", states-len(c.State))
		line := state + "  " + display.Pad(c.Name, names) + "  " + display.Line(c.Message)
		_, _ = fmt.Fprintln(w, look.CutEnd(line, look.Width))
		for _, next := range c.Next {
			// Commands are never cut: they are to be copied.
			_, _ = fmt.Fprintf(w, "%s  %s %s\n", strings.Repeat(" ", states), look.Style(display.Strong, "next"), display.Line(next))
		}
	}
}

// New returns the command. plugins are ours, by the words behind "kubectl".
func New(finder *target.Finder, plugins []string) *cobra.Command {
	o := &Options{finder: finder, output: output.New(false), plugins: plugins, now: time.Now}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what is wrong with the installation",
		Long: `Look at everything that the plugins need: the kubeconfig, the server that it leads to,
who you are there, certificates that expire, the plugins on PATH with their versions and
what is shadowed, kubectl, and completion. Each of it is a line that begins with ok,
warning, failed or unknown, and may have what to do next below it.

Your home workspace comes into being if there is none yet, as with everything that looks
for it. Credentials are never printed.

Exit codes: 0 nothing has failed, 1 any error, 3 something has failed.`,
		Example: `  kubectl kcp doctor
  kubectl kcp doctor -o json`,
		Args:              run.Args(cobra.NoArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
