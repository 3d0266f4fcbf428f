// Package bundle is the command "kubectl kcp bundle": a file with what somebody needs who
// is asked for help with a server that he cannot reach.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/pkg/version"

	"github.com/forkless/kcp/pkg/cli/bundle"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/progress"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostDiagnoses is how many workspaces are diagnosed: each takes several requests,
	// and what is wrong with many is mostly the same.
	mostDiagnoses = 50
	// toOutput writes to the output instead of a file.
	toOutput = "-"
	ready    = "Ready"
)

// Options are what the command is called with.
type Options struct {
	// Path names the topmost workspace, "" for the current one.
	Path string
	// File is what to write, "-" for the output.
	File string

	finder *target.Finder
	now    func() time.Time
	// diagnose finds out what is wrong with the workspace p, for somebody who is here.
	diagnose func(ctx context.Context, c *client.Client, p, here logicalcluster.Path) (*diagnosis.Diagnosis, error)
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.File, "filename", "f", o.File, "File to write, - for the output")
}

// Validate finds what is missing.
func (o *Options) Validate() error {
	if o.File == "" {
		return fmt.Errorf("required flags are missing: --filename")
	}
	return nil
}

// Run writes the bundle.
func (o *Options) Run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	start, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	p := progress.Start(o.finder.Streams, o.finder.Display, "bundle of "+start.String())
	g := &gatherer{client: c}
	b, err := g.gather(ctx, start, origin.Base, o.now(), func(count int) {
		// Lines are for changes of state, and the first workspace is none.
		if count == 1 {
			p.State("Reading")
		}
	})
	if err != nil {
		p.Done("")
		return err
	}
	b.Manifest.ClientVersion = stamp()
	if v, err := c.ServerVersion(ctx, start); err == nil {
		b.Manifest.ServerVersion = v.GitVersion
	}
	diagnosed := o.addDiagnoses(ctx, b, c, origin.Path)
	p.Done("")
	if err := o.write(b); err != nil {
		return err
	}
	o.report(b, diagnosed)
	return nil
}

// addDiagnoses diagnoses the start and what is not ready. What cannot be diagnosed is
// left out: the objects are there.
func (o *Options) addDiagnoses(ctx context.Context, b *bundle.Bundle, c *client.Client, here logicalcluster.Path) int {
	count := 0
	for _, p := range suspects(ctx, b) {
		if count == mostDiagnoses {
			break
		}
		d, err := o.diagnose(ctx, c, p, here)
		if err == nil && b.AddDiagnosis(p, d) == nil {
			count++
		}
	}
	return count
}

// suspects returns the start, and the workspaces that are not ready.
func suspects(ctx context.Context, b *bundle.Bundle) []logicalcluster.Path {
	var found []logicalcluster.Path
	for i, entry := range b.Manifest.Workspaces {
		p, err := logicalcluster.ParsePath(entry.Path)
		if err != nil {
			continue
		}
		parent, ok := p.Parent()
		if i > 0 && ok {
			ws, err := b.Workspace(ctx, parent, p.Base())
			if err == nil && string(ws.Status.Phase) == ready && ws.DeletionTimestamp == nil {
				continue
			}
		}
		found = append(found, p)
	}
	return found
}

// check finds out that the file cannot be written before anybody has waited for it.
func (o *Options) check() error {
	if o.File == toOutput {
		return nil
	}
	err := output.Replaceable(o.File)
	if err == nil {
		_, err = os.Stat(filepath.Dir(o.File))
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", o.File, err)
	}
	return nil
}

// write writes the file, as a whole or not at all, for the user alone.
func (o *Options) write(b *bundle.Bundle) error {
	if o.File == toOutput {
		return b.Write(o.finder.Streams.Out)
	}
	file, err := os.CreateTemp(filepath.Dir(o.File), ".bundle-*")
	if err != nil {
		return err
	}
	// It is not there any more when everything has gone well.
	defer func() { _ = os.Remove(file.Name()) }()
	err = b.Write(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.File, err)
	}
	return os.Rename(file.Name(), o.File)
}

// report says what has been written, and where it has holes.
func (o *Options) report(b *bundle.Bundle, diagnosed int) {
	if o.File != toOutput {
		_, _ = fmt.Fprintf(o.finder.Streams.Out, "%s: %d workspaces from %s on, %d of them diagnosed\n", o.File, len(b.Manifest.Workspaces), b.Manifest.Start, diagnosed)
	}
	holes := 0
	for _, entry := range b.Manifest.Workspaces {
		if len(entry.Problems) > 0 {
			holes++
		}
	}
	if holes > 0 {
		_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: %d workspaces could not be read in full; bundle.json in the file says why\n", holes)
	}
	_, _ = fmt.Fprintln(o.finder.Streams.ErrOut, "note: credentials are left out; names of workspaces, objects and people are in it")
}

// stamp returns the version of this program, "" if it was built without one.
func stamp() string {
	if v := version.Get().GitVersion; !strings.HasPrefix(v, "v0.0.0-master") {
		return v
	}
	return ""
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder, now: time.Now, diagnose: workspace.DiagnoseFrom}
	cmd := &cobra.Command{
		Use:   "bundle [PATH]",
		Short: "Write a file for somebody who is asked for help",
		Long: `Write a file with a part of the tree of workspaces, from the current one or the one at
PATH on: the objects of kcp in it, what keeps workspaces from being ready, and versions.
No objects of other groups are in it, no secrets, and no credentials: fields that hold
some are left out. Names of workspaces, objects and people are in it.

"kubectl ws tree -i --from FILE" shows it, without a server.

Exit codes: 0 done, also if something could not be read, 1 any error.`,
		Example: `  kubectl kcp bundle :root:acme -f acme.tgz
  kubectl kcp bundle -f - | tar tz`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Path = args[0]
			}
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
