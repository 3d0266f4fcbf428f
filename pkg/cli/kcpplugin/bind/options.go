package bind

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// patience is how long binding may take.
const patience = 30 * time.Second

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// Options are what the command is called with.
type Options struct {
	// Reference is the export as <path>:<name>.
	Reference string
	// Name of the binding, that of the export if it is empty.
	Name string
	// Workspace names the workspace to bind in, "" for the current one.
	Workspace string
	// Timeout is how long to wait.
	Timeout time.Duration
	// Wait says whether to wait at all.
	Wait bool
	// Accept and Reject are claims to answer; AcceptAll and RejectAll answer those that
	// the export makes.
	Accept, Reject       []string
	AcceptAll, RejectAll bool
	// NoInput asks nothing, even if somebody is there.
	NoInput bool
	// DryRun is none, client or server.
	DryRun string

	finder *target.Finder
	output *output.Flags

	exportPath       logicalcluster.Path
	exportName       string
	accepts, rejects []apisv1alpha2.PermissionClaim
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, Timeout: patience, Wait: true, DryRun: dryRunNone, output: output.New(false)}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Name, "name", o.Name, "Name of the APIBinding. Without it that of the export")
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace to bind in, instead of the current one")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long to wait until the export is bound")
	flags.BoolVar(&o.Wait, "wait", o.Wait, "Wait until the export is bound")
	flags.StringSliceVar(&o.Accept, "accept-permission-claim", o.Accept, "CLAIM to accept; can be repeated")
	flags.StringSliceVar(&o.Reject, "reject-permission-claim", o.Reject, "CLAIM to reject; can be repeated")
	flags.BoolVar(&o.AcceptAll, "accept-all-permission-claims", o.AcceptAll, "Accept all claims of the export as they are")
	flags.BoolVar(&o.RejectAll, "reject-all-permission-claims", o.RejectAll, "Reject all claims of the export")
	flags.BoolVar(&o.NoInput, "no-input", o.NoInput, "Ask nothing")
	flags.StringVar(&o.DryRun, "dry-run", o.DryRun, "none, client (send nothing) or server (send, but change nothing)")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	o.output.AddFlags(flags)
}

// Complete reads the arguments.
func (o *Options) Complete() error {
	reference := strings.TrimPrefix(o.Reference, ":")
	i := strings.LastIndex(reference, ":")
	if i < 0 {
		return o.badReference()
	}
	var err error
	if o.exportPath, err = logicalcluster.ParsePath(reference[:i]); err != nil || reference[i+1:] == "" {
		return o.badReference()
	}
	o.exportName = reference[i+1:]
	if o.Name == "" {
		o.Name = o.exportName
	}
	if o.accepts, err = parse(o.Accept); err != nil {
		return err
	}
	o.rejects, err = parse(o.Reject)
	return err
}

func (o *Options) badReference() error {
	return run.Hint(fmt.Errorf("%q is no reference to an export, which has the form <path>:<export>, such as root:platform:certs", o.Reference),
		"kubectl kcp exports PATH lists those in a workspace that you may bind")
}

func parse(args []string) ([]apisv1alpha2.PermissionClaim, error) {
	var claims []apisv1alpha2.PermissionClaim
	for _, arg := range args {
		c, err := claim.Parse(arg)
		if err != nil {
			return nil, err
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// Validate finds what contradicts itself.
func (o *Options) Validate() error {
	one, all := len(o.accepts)+len(o.rejects) > 0, o.AcceptAll || o.RejectAll
	switch {
	case o.AcceptAll && o.RejectAll:
		return errors.New("--accept-all-permission-claims and --reject-all-permission-claims exclude each other")
	case one && all:
		return errors.New("claims are answered either one by one or all at once, not both")
	case !slices.Contains([]string{dryRunNone, dryRunClient, dryRunServer}, o.DryRun):
		return fmt.Errorf("--dry-run is none, client or server, not %q", o.DryRun)
	case o.Timeout <= 0:
		return errors.New("--timeout has to be more than nothing; --wait=false does not wait")
	}
	seen := map[string]bool{}
	for _, c := range slices.Concat(o.accepts, o.rejects) {
		if seen[claim.Format(c)] {
			return fmt.Errorf("claim %s is answered twice", claim.Format(c))
		}
		seen[claim.Format(c)] = true
	}
	return o.output.Validate()
}
