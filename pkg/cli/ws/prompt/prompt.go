// Package prompt is the command "kubectl ws prompt": the current workspace in few
// characters, for the prompt of a shell. It makes no request.
package prompt

import (
	"fmt"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// Options are what the command is called with.
type Options struct {
	// Max is how many characters there are room for, 0 for any number.
	Max int
	// Format is a template of Fields, "" for the short form alone.
	Format string

	finder   *target.Finder
	template *template.Template
}

// Fields are what a template can show.
type Fields struct {
	// Path is the whole path, such as root:acme:payments.
	Path string
	// Short is the path in the short form, such as acme:payments.
	Short string
	// Name is the last name in the path.
	Name string
	// Context is the name of the context.
	Context string
	// Server is the address of the server, without the workspace.
	Server string
}

// AddFlags adds the flags of the command to flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.Max, "max", o.Max, "How many characters the short form may have, 0 for any number")
	flags.StringVar(&o.Format, "format", o.Format, "Go template instead of the short form, with .Path, .Short, .Name, .Context and .Server")
}

// Complete reads the template.
func (o *Options) Complete() error {
	if o.Max < 0 {
		return fmt.Errorf("--max %d is less than nothing", o.Max)
	}
	if o.Format == "" {
		return nil
	}
	var err error
	if o.template, err = template.New("format").Parse(o.Format); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	return nil
}

// Run prints the workspace, and nothing where there is none: a prompt is no place for
// complaints about what is not there.
func (o *Options) Run() error {
	origin, err := o.finder.Origin()
	if clientcmd.IsEmptyConfig(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !origin.InWorkspace() {
		return nil
	}
	out := o.finder.Streams.Out
	home, _ := origin.Home()
	short := Short(o.finder.Display.For(out), origin.Path, home, o.Max)
	if o.template == nil {
		_, err = fmt.Fprintln(out, short)
		return err
	}
	var text strings.Builder
	err = o.template.Execute(&text, Fields{
		Path: origin.Path.String(), Short: short, Name: origin.Path.Base(), Context: origin.Context(), Server: origin.Base,
	})
	if err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	_, err = fmt.Fprintln(out, strings.TrimSuffix(text.String(), "\n"))
	return err
}

// New returns the command.
func New(finder *target.Finder) *cobra.Command {
	o := &Options{finder: finder}
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Print the current workspace for the prompt of a shell",
		Long: `Print the current workspace in few characters: ~ for the home workspace once you have
been there, and without the leading root. The server is not asked, so that the command
is quick enough for a prompt. Where there is no workspace it prints nothing.

Exit codes: 0 done, 1 any error.`,
		Example: `  PS1='[$(kubectl ws prompt --max 20)] $ '
  kubectl ws prompt --format '{{.Name}} on {{.Server}}'`,
		Args:              run.Args(cobra.NoArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run()
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}
