// Command kubectl-kcp is the kubectl plugin "kubectl kcp": APIs across workspaces.
package main

import (
	"context"
	"os"

	"github.com/forkless/kcp/pkg/cli/kcpplugin"
	"github.com/forkless/kcp/pkg/cli/run"
)

func main() {
	ctx, stop := run.Signals(context.Background())
	code := run.Execute(ctx, run.System(), kcpplugin.NewPlugin, os.Args[1:])
	stop()
	os.Exit(code)
}
