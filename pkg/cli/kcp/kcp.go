package kcp

import (
	"strings"

	"github.com/spf13/cobra"
	baseversion "k8s.io/component-base/version"

	"github.com/forkless/kcp/pkg/cli/envtest/apiserver"
	"github.com/forkless/kcp/pkg/cli/envtest/assets"
	"github.com/forkless/kcp/pkg/cli/envtest/etcd"
	"github.com/forkless/kcp/pkg/cli/kcp/admin"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/kcp/status"
	"github.com/forkless/kcp/pkg/cli/kcp/stop"
	"github.com/forkless/kcp/pkg/cli/kcp/version"
	"github.com/forkless/kcp/pkg/cli/run"
)

// New returns the command. newServer makes the servers that it starts.
func New(streams run.Streams, newServer start.NewServer) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "kcp",
		Short:   "A Kubernetes API for each of many workspaces, in one process",
		Version: stamp(),
		Args:    run.Commands,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		start.New(streams, newServer),
		status.New(streams),
		ephemeral.New(streams),
		stop.New(streams),
		admin.New(streams),
		version.New(streams),
		assets.New(streams, apiserver.Name, etcd.Name),
	)
	return cmd
}

// stamp returns the version that the release process wrote into the binary.
func stamp() string {
	if v := baseversion.Get().GitVersion; !strings.Contains(v, "$Format") {
		return v
	}
	return "<unknown>"
}
