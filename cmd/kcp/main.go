// Command kcp serves many workspaces, each with a Kubernetes API of its own, from one
// process.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/kcp"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

func main() {
	ctx, stop := run.Signals(context.Background())
	code := run.Execute(ctx, run.System(), command, os.Args[1:])
	stop()
	os.Exit(code)
}

func command(streams run.Streams) *cobra.Command {
	return kcp.New(streams, func(ctx context.Context, prepared *options.Prepared) (start.Server, error) {
		return server.New(ctx, prepared)
	})
}
