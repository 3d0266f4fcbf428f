// Package emit is the command "kubectl ws kubeconfig": a kubeconfig for one workspace, or
// for a virtual workspace, that is complete in itself and can be handed out.
package emit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// validity is how long a token is good for.
const validity = time.Hour

// Options are what the command is called with.
type Options struct {
	// Path names the workspace, "" for the current one.
	Path string
	// Virtual is KIND/NAME of a virtual workspace, "" for the workspace itself.
	Virtual string
	// Shard picks one of several endpoints of a virtual workspace.
	Shard string
	// ServiceAccount is NAMESPACE/NAME of whose token to put in, "" for the credentials
	// of the user.
	ServiceAccount string
	// Create creates the service account.
	Create bool
	// Duration is how long the token is good for.
	Duration time.Duration
	// Yes prints secrets to a terminal.
	Yes bool
	// Output is yaml or json.
	Output string

	finder    *target.Finder
	virtual   virtual
	namespace string
	account   string
}

// NewOptions returns the options of a command that is called without any.
func NewOptions(finder *target.Finder) *Options {
	return &Options{Duration: validity, Output: "yaml", finder: finder}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Virtual, "virtual", o.Virtual, "Lead to a virtual workspace: apiexport/NAME, initializing/TYPE or terminating/TYPE")
	flags.StringVar(&o.Shard, "shard", o.Shard, "With --virtual: only the endpoint for this shard")
	flags.StringVar(&o.ServiceAccount, "service-account", o.ServiceAccount, "NAMESPACE/NAME of a service account whose token to put in, instead of your credentials")
	flags.BoolVar(&o.Create, "create", o.Create, "With --service-account: create it if it is not there")
	flags.DurationVar(&o.Duration, "duration", o.Duration, "With --service-account: how long the token is good for")
	flags.BoolVar(&o.Yes, "yes", o.Yes, "Print a client key or an exec plugin to a terminal")
	flags.StringVarP(&o.Output, "output", "o", o.Output, "Output format: yaml, json")
}

// Complete reads the arguments and the flags.
func (o *Options) Complete(args []string) error {
	if len(args) > 0 {
		o.Path = args[0]
	}
	if o.Output != "yaml" && o.Output != "json" {
		return fmt.Errorf("unknown output format %q, known are yaml, json", o.Output)
	}
	if o.Shard != "" && o.Virtual == "" {
		return errors.New("--shard picks an endpoint of a virtual workspace, and needs --virtual")
	}
	if o.Virtual != "" {
		var err error
		if o.virtual, err = parseVirtual(o.Virtual); err != nil {
			return err
		}
	}
	return o.completeAccount()
}

func (o *Options) completeAccount() error {
	if o.ServiceAccount == "" {
		if o.Create {
			return errors.New("--create creates a service account, and needs --service-account")
		}
		return nil
	}
	namespace, name, ok := strings.Cut(o.ServiceAccount, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("--service-account %q is not NAMESPACE/NAME", o.ServiceAccount)
	}
	if o.Duration < time.Second {
		return fmt.Errorf("--duration %s is too short for a token", o.Duration)
	}
	o.namespace, o.account = namespace, name
	return nil
}

// Run prints the kubeconfig.
func (o *Options) Run(ctx context.Context) error {
	origin, err := o.finder.Origin()
	if err != nil {
		return err
	}
	p, err := origin.Workspace(ctx, o.Path)
	if err != nil {
		return err
	}
	config, err := origin.Private(p)
	if err != nil {
		return err
	}
	if err := o.mayShow(config); err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	if config, err = o.lead(ctx, c, origin, p, config); err != nil {
		return err
	}
	if o.account != "" {
		token, err := o.token(ctx, c, p)
		if err != nil {
			return err
		}
		withToken(config, o.namespace+"/"+o.account, token)
	}
	return o.print(config)
}

// mayShow returns an error if the credentials are not to be shown where the output goes.
func (o *Options) mayShow(config *api.Config) error {
	what := secret(config)
	if what == "" || o.account != "" || o.Yes || !display.IsTerminal(o.finder.Streams.Out) {
		return nil
	}
	return run.Hint(fmt.Errorf("the kubeconfig has %s in it, which is not printed to a terminal", what),
		"redirect the output into a file, or say --yes", "--service-account NAMESPACE/NAME puts a token in instead")
}

// lead makes config lead to the workspace or its virtual workspace.
func (o *Options) lead(ctx context.Context, c *client.Client, origin *target.Origin, p logicalcluster.Path, config *api.Config) (*api.Config, error) {
	if o.Virtual == "" {
		if err := switching.Check(ctx, c, p); err != nil {
			return nil, err
		}
		return contexts(config, p.String(), []endpoint{{url: origin.At(p)}}), nil
	}
	endpoints, err := o.virtual.find(ctx, c, p)
	if err != nil {
		return nil, err
	}
	if o.Shard != "" || len(endpoints) > 1 {
		// Not everybody may read the shards; their names are nice to have otherwise.
		shards, err := c.VirtualWorkspacesOf(ctx)
		if err != nil && o.Shard != "" {
			return nil, fmt.Errorf("--shard: finding out which shards there are: %w", err)
		}
		locate(endpoints, shards)
	}
	if o.Shard != "" {
		if endpoints, err = choose(endpoints, o.Shard); err != nil {
			return nil, err
		}
	}
	return contexts(config, o.Virtual, endpoints), nil
}

// token returns a token of the service account.
func (o *Options) token(ctx context.Context, c *client.Client, p logicalcluster.Path) (string, error) {
	if o.Create {
		if err := c.EnsureServiceAccount(ctx, p, o.namespace, o.account); err != nil {
			return "", err
		}
	}
	token, err := c.Token(ctx, p, o.namespace, o.account, o.Duration)
	if apierrors.IsNotFound(err) && !o.Create {
		return "", run.Hint(err, "--create creates the service account")
	}
	return token, err
}

func (o *Options) print(config *api.Config) error {
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding the kubeconfig: %w", err)
	}
	if o.Output == "json" {
		if content, err = yaml.YAMLToJSON(content); err != nil {
			return fmt.Errorf("encoding the kubeconfig: %w", err)
		}
		content = append(content, '\n')
	}
	_, err = o.finder.Streams.Out.Write(content)
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := NewOptions(finder)
	cmd := &cobra.Command{
		Use:   "kubeconfig [PATH]",
		Short: "Print a kubeconfig for one workspace",
		Long: `Print a kubeconfig that leads to the current workspace, or to the one at PATH, and to
nothing else. Certificates are in it, so that it can be handed out; the credentials in it
are yours, unless --service-account puts those of a service account of the workspace in.

With --virtual it leads to a virtual workspace that belongs to something in the workspace:

  apiexport/NAME     the objects of the API in all workspaces that have bound it
  initializing/TYPE  the workspaces that wait for the initializer of the type
  terminating/TYPE   the workspaces that wait for the terminator of the type

If that has several endpoints there is a context for each.

Exit codes: 0 done, 1 any error.`,
		Example: `  kubectl ws kubeconfig :root:acme > acme.kubeconfig
  kubectl ws kubeconfig --service-account default/ci --create --duration 8h > ci.kubeconfig
  kubectl ws kubeconfig --virtual apiexport/widgets > controller.kubeconfig`,
		Args:              run.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
