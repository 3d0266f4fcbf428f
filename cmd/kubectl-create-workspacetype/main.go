// Command kubectl-create-workspacetype is the kubectl plugin "kubectl create workspacetype".
package main

import (
	"context"
	"os"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types"
	"github.com/forkless/kcp/pkg/cli/run"
)

func main() {
	ctx, stop := run.Signals(context.Background())
	code := completion.Execute(ctx, run.System(), types.NewCreatePlugin, os.Args)
	stop()
	os.Exit(code)
}
