// Command kcp serves many workspaces, each with a Kubernetes API of its own, from one
// process. Under the names kube-apiserver and etcd it is what tests of controllers start.
package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/envtest/apiserver"
	"github.com/forkless/kcp/pkg/cli/envtest/etcd"
	"github.com/forkless/kcp/pkg/cli/kcp"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/self"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/watcher"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case watcher.Verb:
			os.Exit(watcher.Main(os.Args[2:], os.Stdin))
		case self.IdleVerb:
			return
		}
	}
	ctx, stop := run.Signals(context.Background())
	code := execute(ctx, strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), os.Args[1:])
	stop()
	os.Exit(code)
}

// execute runs the program of a name and returns its exit code.
func execute(ctx context.Context, name string, args []string) int {
	switch name {
	case etcd.Name:
		return etcd.Main(ctx, run.System(), args)
	case apiserver.Name:
		return run.Execute(ctx, run.System(), func(streams run.Streams) *cobra.Command { return apiserver.New(streams, newServer) }, args)
	default:
		return run.Execute(ctx, run.System(), command, args)
	}
}

func command(streams run.Streams) *cobra.Command { return kcp.New(streams, newServer) }

func newServer(ctx context.Context, prepared *options.Prepared) (start.Server, error) {
	return server.New(ctx, prepared)
}
