// Command kubectl-kcp is the kubectl plugin "kubectl kcp": APIs across workspaces. Called
// by the name of another of our plugins it is that one, so that one file and links to it
// are enough.
package main

import (
	"context"
	"os"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/kcpplugin"
	"github.com/forkless/kcp/pkg/cli/run"
)

func main() {
	ctx, stop := run.Signals(context.Background())
	code := completion.Execute(ctx, run.System(), kcpplugin.Named(os.Args[0]), os.Args)
	stop()
	os.Exit(code)
}
