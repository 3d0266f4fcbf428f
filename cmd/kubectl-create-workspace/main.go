// Command kubectl-create-workspace is the kubectl plugin "kubectl create workspace".
package main

import (
	"context"
	"os"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
)

func main() {
	ctx, stop := run.Signals(context.Background())
	code := completion.Execute(ctx, run.System(), ws.NewCreatePlugin, os.Args)
	stop()
	os.Exit(code)
}
