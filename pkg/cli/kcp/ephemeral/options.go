package ephemeral

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/typeref"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	defaultWorkspace    = "root:run"
	defaultStartTimeout = 30 * time.Second
	defaultTTL          = time.Hour
)

// The values of --keep.
const (
	keepNever   = "never"
	keepFailure = "failure"
	keepAlways  = "always"
)

// Options are what can be asked of the verb.
type Options struct {
	// Command is what to run; empty means to serve until a signal.
	Command []string
	// In is the path of the workspace for the command, Type its type; empty means the default
	// of its parent.
	In, Type string
	// Apply are files, directories and "-" with what to apply there.
	Apply []string
	// Bind are exports to bind there, as PATH:EXPORT.
	Bind []string
	// Users are to be known by the server, as NAME[=GROUP,...].
	Users []string
	// Snapshot is an archive to start from, Save one to write at the end.
	Snapshot, Save string
	// Artifacts is the directory for what is kept, Keep when that is.
	Artifacts, Keep string
	// StartTimeout is how long it may take until the command can run, Timeout how long that
	// may run; 0 is for ever.
	StartTimeout, Timeout time.Duration
	// Detach leaves the control plane running for TTL, and prints what leads there.
	Detach bool
	Print  string
	TTL    time.Duration
	// ServerArgs are flags of "kcp start".
	ServerArgs []string
	// Quiet says nothing.
	Quiet bool

	streams run.Streams
	// began is when the process did.
	began time.Time
	now   func() time.Time
	// getenv reads the environment.
	getenv func(string) string
	// detached says that this is the process that stays.
	detached bool

	workspace     logicalcluster.Path
	workspaceType *tenancyv1alpha1.WorkspaceTypeReference
	exports       []export
	users         []user
}

// export is what --bind names.
type export struct{ path, name string }

// NewOptions returns the options of a command that is called without any.
func NewOptions(streams run.Streams) *Options {
	return &Options{
		In:           defaultWorkspace,
		StartTimeout: defaultStartTimeout,
		Print:        printEnv,
		TTL:          defaultTTL,
		streams:      streams,
		began:        time.Now(),
		now:          time.Now,
	}
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.In, "in", o.In, "Path of the workspace for the command; made with its parents if it is not there")
	flags.StringVar(&o.Type, "type", o.Type, "Type of that workspace, as NAME or PATH:NAME. Without it the default of its parent")
	flags.StringArrayVar(&o.Apply, "apply", o.Apply, "File or directory of manifests, or - for the input, to apply there; can be repeated")
	flags.StringArrayVar(&o.Bind, "bind", o.Bind, "PATH:EXPORT to bind there, with all its claims accepted; can be repeated")
	flags.StringArrayVar(&o.Users, "user", o.Users, "NAME[=GROUP,...] of a user, who gets a context in the kubeconfig; can be repeated")
	flags.StringVar(&o.Snapshot, "snapshot", o.Snapshot, "Archive to start from, made by --save")
	flags.StringVar(&o.Save, "save", o.Save, "Archive to write at the end, with everything that the server has")
	flags.StringVar(&o.Artifacts, "artifacts", o.Artifacts, "Directory in which a directory is made for what is kept. (default $ARTIFACT_DIR or the working directory)")
	flags.StringVar(&o.Keep, "keep", o.Keep, "When to keep logs and objects: never, failure or always. (default never; failure where --artifacts or $ARTIFACT_DIR says where)")
	flags.DurationVar(&o.StartTimeout, "start-timeout", o.StartTimeout, "How long it may take until the command can run")
	flags.DurationVar(&o.Timeout, "timeout", o.Timeout, "How long the command may run before it is told to end; 0 is for ever")
	flags.BoolVar(&o.Detach, "detach", o.Detach, "Leave the control plane running without a command, and print what leads there")
	flags.StringVar(&o.Print, "print", o.Print, "What --detach prints: env (for a shell), dotenv, path (of the kubeconfig) or json")
	flags.DurationVar(&o.TTL, "ttl", o.TTL, "How long a control plane runs with --detach; 0 is until kcp stop")
	flags.StringArrayVar(&o.ServerArgs, "kcp-arg", o.ServerArgs, "Flag of kcp start, such as --kcp-arg=--feature-gates=X=true; can be repeated")
	flags.BoolVarP(&o.Quiet, "quiet", "q", o.Quiet, "Say nothing but errors")
	flags.BoolVar(&o.detached, "detached", false, "Be the process that --detach leaves running")
	_ = flags.MarkHidden("detached")
}

// Complete fills in what the environment says for flags that were not given.
func (o *Options) Complete(changed func(flag string) bool) {
	fromEnvironment := o.getenv("ARTIFACT_DIR")
	if !changed("keep") {
		o.Keep = keepNever
		if o.Artifacts != "" || fromEnvironment != "" {
			o.Keep = keepFailure
		}
	}
	for _, directory := range []string{fromEnvironment, "."} {
		if o.Artifacts == "" && !changed("artifacts") {
			o.Artifacts = directory
		}
	}
}

// Validate finds what is wrong with the flags, and how they were called. changed says whether
// a flag was given.
func (o *Options) Validate(changed func(flag string) bool) error {
	if o.Detach && len(o.Command) > 0 {
		return errors.New("--detach runs no command: it returns, and what follows runs with what it prints")
	}
	if err := o.validateEmpty(changed); err != nil {
		return err
	}
	for _, flag := range []string{"print", "ttl"} {
		if changed(flag) && !o.Detach && !o.detached {
			return fmt.Errorf("--%s goes with --detach", flag)
		}
	}
	if o.Detach && changed("timeout") {
		return errors.New("--timeout is for a command; with --detach it is --ttl")
	}
	if keeps := []string{keepNever, keepFailure, keepAlways}; !slices.Contains(keeps, o.Keep) {
		return fmt.Errorf("--keep %q: valid are %s", o.Keep, strings.Join(keeps, ", "))
	}
	if !slices.Contains(prints, o.Print) {
		return fmt.Errorf("--print %q: valid are %s", o.Print, strings.Join(prints, ", "))
	}
	for flag, value := range map[string]time.Duration{"start-timeout": o.StartTimeout, "timeout": o.Timeout, "ttl": o.TTL} {
		if value < 0 {
			return fmt.Errorf("--%s %s: there is no time before now", flag, value)
		}
	}
	return o.parse()
}

// validateEmpty finds flags that were given without a value, as of a variable that is not
// set. None of them has a meaning then that would not be a surprise.
func (o *Options) validateEmpty(changed func(flag string) bool) error {
	for _, given := range []struct {
		flag   string
		values []string
	}{
		{"in", []string{o.In}},
		{"type", []string{o.Type}},
		{"apply", o.Apply},
		{"bind", o.Bind},
		{"user", o.Users},
		{"snapshot", []string{o.Snapshot}},
		{"save", []string{o.Save}},
		{"artifacts", []string{o.Artifacts}},
		{"keep", []string{o.Keep}},
		{"print", []string{o.Print}},
		{"kcp-arg", o.ServerArgs},
	} {
		if changed(given.flag) && slices.Contains(given.values, "") {
			return fmt.Errorf("--%s is empty", given.flag)
		}
	}
	return nil
}

// decided are flags of the server that are not for others to give.
var decided = []string{"root-directory", "kubeconfig-path", "token-auth-file"}

// parse reads what flags name.
func (o *Options) parse() (err error) {
	if o.workspace, err = workspaceIn(o.In); err != nil {
		return err
	}
	if o.Type != "" {
		ref, err := typeref.Parse(o.Type)
		if err != nil {
			return fmt.Errorf("--type: %w", err)
		}
		o.workspaceType = &ref
	}
	for _, arg := range o.Bind {
		e, err := parseExport(arg)
		if err != nil {
			return err
		}
		o.exports = append(o.exports, e)
	}
	if o.users, err = parseUsers(o.Users); err != nil {
		return err
	}
	for _, arg := range o.ServerArgs {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if slices.Contains(decided, name) {
			return fmt.Errorf("--kcp-arg %s: kcp run decides about --%s", arg, name)
		}
	}
	return nil
}

// workspaceIn returns the path that --in names.
func workspaceIn(arg string) (logicalcluster.Path, error) {
	p, err := logicalcluster.ParsePath(strings.TrimPrefix(arg, ":"))
	if err != nil {
		return p, fmt.Errorf("--in: %w", err)
	}
	if p.Segments()[0] != logicalcluster.Root.String() {
		return p, fmt.Errorf("--in %s: it has to begin at root, as %s does", arg, defaultWorkspace)
	}
	return p, nil
}

// parseExport reads a value of --bind.
func parseExport(arg string) (export, error) {
	reference := strings.TrimPrefix(arg, ":")
	i := strings.LastIndex(reference, ":")
	if i <= 0 || i == len(reference)-1 {
		return export{}, fmt.Errorf("--bind %q: it has to look like root:platform:certs, a path and the name of an export", arg)
	}
	p, err := logicalcluster.ParsePath(reference[:i])
	if err != nil {
		return export{}, fmt.Errorf("--bind %q: %w", arg, err)
	}
	return export{path: p.String(), name: reference[i+1:]}, nil
}
