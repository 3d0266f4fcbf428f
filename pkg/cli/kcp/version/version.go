// Package version is the verb "kcp version": which kcp this is, and which Kubernetes
// it is made of. It asks no server.
package version

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/run"
)

// Options are what can be asked of the verb.
type Options struct {
	// Output is the format: empty for people, json or yaml for programs.
	Output string

	streams run.Streams
	info    version.Info
}

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := &Options{streams: streams, info: version.Get()}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  run.Args(cobra.NoArgs),
		RunE:  func(*cobra.Command, []string) error { return o.Run() },
	}
	cmd.Flags().StringVarP(&o.Output, "output", "o", o.Output, "Format: json or yaml.")
	return cmd
}

// Run prints the version.
func (o *Options) Run() error {
	content, err := o.render()
	if err != nil {
		return err
	}
	_, err = o.streams.Out.Write(content)
	return err
}

func (o *Options) render() ([]byte, error) {
	switch o.Output {
	case "":
		return []byte(o.info.String() + "\n"), nil
	case "json":
		content, err := json.MarshalIndent(o.info, "", "  ")
		return append(content, '\n'), err
	case "yaml":
		return yaml.Marshal(o.info)
	default:
		return nil, fmt.Errorf("unknown output format %q, known are json, yaml", o.Output)
	}
}
