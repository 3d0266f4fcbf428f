// Package admin is the verb "kcp kubeconfig": where the kubeconfig of the admins of a
// server is, or what is in it. It asks no server, and finds that of one that is not
// running at the moment: a start puts it there again.
package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// Options are what can be asked of the verb.
type Options struct {
	// RootDirectory is the directory of the server.
	RootDirectory string
	// Print asks for the content.
	Print bool

	streams run.Streams
}

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := &Options{RootDirectory: options.NewOptions().RootDirectory, streams: streams}
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the kubeconfig for admins",
		Example: "  export KUBECONFIG=$(kcp kubeconfig)\n  kcp kubeconfig --print > admin.kubeconfig",
		Args:    run.Args(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return o.Run() },
	}
	cmd.Flags().StringVar(&o.RootDirectory, "root-directory", o.RootDirectory, "Directory of the server.")
	cmd.Flags().BoolVar(&o.Print, "print", o.Print, "Print the kubeconfig itself. Its tokens let everybody in who has them.")
	return cmd
}

// Run prints the path or the content.
func (o *Options) Run() error {
	path, err := o.find()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return run.Hint(fmt.Errorf("%s has no kubeconfig for admins", o.RootDirectory), "kcp start writes it, unless its admin battery is off")
	}
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of %s: %w", o.RootDirectory, err)
	}
	if o.Print {
		_, err = o.streams.Out.Write(content)
		return err
	}
	_, err = fmt.Fprintln(o.streams.Out, path)
	return err
}

// find returns where the kubeconfig is: where the server has said, or else where servers
// put it.
func (o *Options) find() (string, error) {
	server, _, err := running.In(o.RootDirectory)
	if err != nil {
		return "", err
	}
	if server.Kubeconfig != "" {
		return server.Kubeconfig, nil
	}
	directory, err := filepath.Abs(o.RootDirectory)
	if err != nil {
		return "", fmt.Errorf("--root-directory=%s: %w", o.RootDirectory, err)
	}
	return filepath.Join(directory, options.KubeconfigFile), nil
}
