// Package exportinit is the command "kubectl kcp export init": from
// CustomResourceDefinitions to the APIResourceSchemas and APIExports that offer them to
// other workspaces.
//
// Called again it changes only what has changed: a schema whose content is the same
// keeps its name, and so those who have bound it notice nothing. What is to be is
// decided (plan.go) from what there is, which a store (folder.go, workspace.go, and none
// for the output) reads and writes.
package exportinit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// store is where schemas and exports are kept.
type store interface {
	// load returns all schemas, and those of the exports that are there.
	load(ctx context.Context, exports []string) (present, error)
	// putSchema keeps a schema that is not there yet.
	putSchema(ctx context.Context, s plannedSchema) error
	// putExport keeps an export. It is called after putSchema of all its schemas.
	putExport(ctx context.Context, e plannedExport) error
}

// Options are what the command is called with.
type Options struct {
	// Files are what is read: files, folders, "-".
	Files []string
	// Name of the one export, "" for one for each API group.
	Name string
	// Claims are what the export asks for.
	Claims []string
	// Out is the folder to write to.
	Out string
	// Apply writes to a workspace: the one that Workspace names, or the current one.
	Apply     bool
	Workspace string
	// Preserve keeps resources of an export that no definition is of.
	Preserve bool
	// Output is yaml or json.
	Output string

	finder *target.Finder
	now    func() time.Time
	claims []apisv1alpha2.PermissionClaim
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{finder: finder, now: time.Now, Output: formatYAML}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVarP(&o.Files, "filename", "f", o.Files, "File or folder with CustomResourceDefinitions, - for the input; can be repeated")
	flags.StringVar(&o.Name, "name", o.Name, "Name of one export for everything. Without it there is one for each API group")
	flags.StringArrayVar(&o.Claims, "claim", o.Claims, "CLAIM that the export makes; can be repeated")
	flags.StringVar(&o.Out, "out", o.Out, "Folder to write to, instead of the output")
	flags.BoolVar(&o.Apply, "apply", o.Apply, "Write to the workspace, instead of the output")
	flags.StringVarP(&o.Workspace, "workspace", "w", o.Workspace, "Workspace for --apply, instead of the current one")
	flags.BoolVar(&o.Preserve, "preserve-resources", o.Preserve, "Keep resources of the export that none of the definitions is of")
	flags.StringVarP(&o.Output, "output", "o", o.Output, "Format of the output: yaml, json")
}

// Complete reads the flags.
func (o *Options) Complete() error {
	for _, arg := range o.Claims {
		c, err := claim.Parse(arg)
		if err != nil {
			return err
		}
		o.claims = append(o.claims, c)
	}
	return nil
}

// Validate finds what is missing or contradicts itself.
func (o *Options) Validate() error {
	switch {
	case len(o.Files) == 0:
		return errors.New("required flags are missing: --filename")
	case o.Apply && o.Out != "":
		return errors.New("--out and --apply exclude each other")
	case o.Workspace != "" && !o.Apply:
		return errors.New("--workspace says where to --apply; without that flag nothing is sent")
	case o.Output != formatYAML && o.Output != formatJSON:
		return fmt.Errorf("unknown output format %q, known are yaml, json", o.Output)
	default:
		return nil
	}
}

// Run makes schemas and exports.
func (o *Options) Run(ctx context.Context) error {
	definitions, err := definition.Read(o.Files, o.finder.Streams.In)
	if err != nil {
		return err
	}
	r := request{definitions: definitions, name: o.Name, claims: o.claims, preserve: o.Preserve, today: o.now()}
	s, err := o.store(ctx)
	if err != nil {
		return err
	}
	have, err := s.load(ctx, r.exportNames())
	if err != nil {
		return err
	}
	p, err := decide(r, have)
	if err != nil {
		return err
	}
	return o.carryOut(ctx, p, s)
}

func (o *Options) store(ctx context.Context) (store, error) {
	switch {
	case o.Apply:
		return newWorkspace(ctx, o.finder, o.Workspace)
	case o.Out != "":
		return &folder{path: o.Out, out: o.finder.Streams.Out}, nil
	default:
		return &printed{format: o.Output, out: o.finder.Streams.Out}, nil
	}
}

func (o *Options) carryOut(ctx context.Context, p plan, s store) error {
	for _, planned := range p.schemas {
		if err := s.putSchema(ctx, planned); err != nil {
			return err
		}
	}
	for _, planned := range p.exports {
		for _, dropped := range planned.dropped {
			_, _ = fmt.Fprintf(o.finder.Streams.ErrOut, "note: export %s offers %s no longer; --preserve-resources keeps it\n",
				planned.Name, schema.GroupResource{Group: dropped.Group, Resource: dropped.Name})
		}
		if err := s.putExport(ctx, planned); err != nil {
			return err
		}
	}
	return nil
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "init -f CRDS",
		Short: "Make APIResourceSchemas and APIExports of CustomResourceDefinitions",
		Long: `Make an APIResourceSchema of each CustomResourceDefinition in files and folders, and
an APIExport of each API group that offers them. They go to the output, to files in
the folder that --out names, or with --apply to the current workspace.

Called again it changes what has changed: schemas with the same content keep their
names, and what else is in an export stays as it is.

CLAIM is resource[.group][:identity][=verb+verb...], without verbs for all of them.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl kcp export init -f config/crd --out config/kcp
  kubectl kcp export init -f config/crd --name certs --claim secrets=get+list+watch --apply`,
		Args:              run.Args(cobra.ExactArgs(0)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return run.Misuse(cmd, err)
			}
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
