package ephemeral

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
)

// New returns the command.
func New(streams run.Streams) *cobra.Command {
	o := NewOptions(streams)
	o.getenv = os.Getenv
	cmd := &cobra.Command{
		Use:   "run [flags] [-- COMMAND ARG...]",
		Short: "Run a command with a control plane of its own",
		Long: `Run a command with a control plane of its own, which is gone when the command has ended:
in memory, on a free port of this machine alone, with nothing shared. Any number can run
at the same time.

The command finds in its environment:

  KUBECONFIG            a kubeconfig with the workspace as the current one, in the context
                        run, and a context for each --user
  KCP_URL               the address of the server, without a path
  KCP_WORKSPACE         the path of the workspace
  KCP_ROOT_DIRECTORY    the directory of the server, with admin.kubeconfig and kcp.log
  KCP_RUN_ID            what "kcp status" and "kcp stop" know it by
  USE_EXISTING_CLUSTER  true, so that suites of controller-runtime's envtest use it unchanged
  KUBECACHEDIR          where kubectl keeps what it has learned about the server

Input, output and signals are those of the command, and its exit code is that of kcp run.
Without a command it runs until ctrl-c. What the command has started and left behind ends
with it, unless it has made itself a session of its own; nothing else outlives kcp run,
however that ends.

--bind and --apply are awaited before the command runs: definitions are served, exports
have their identity, bindings are bound. Bindings come first, but for those to exports that
are applied in the workspace itself.

--keep leaves a directory kcp-run-<time> with kcp.log, audit.log, objects.yaml (what is in
the workspace and below, without secrets) and why.txt (what is stuck there, and why).

--detach returns when everything is ready, and prints what leads there. Such a control plane
ends by "kcp stop $KCP_RUN_ID", or by itself after --ttl.

Exit codes: that of the command; 126 it cannot be run, 127 it is not there, both before a
server is started; 4 --start-timeout or --timeout ran out; 1 any other error; 130 and 143
interrupted and terminated.`,
		Example: `  kcp run --apply config/crds -- go test ./...
  kcp run --user alice=team-a --keep failure -- make e2e
  kcp run --bind root:platform:certs --snapshot platform.tar -- ./try.sh
  eval "$(kcp run --detach --print env)"; kubectl ws .; kcp stop "$KCP_RUN_ID"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Command = args
			o.Complete(cmd.Flags().Changed)
			if err := o.Validate(cmd.Flags().Changed); err != nil {
				return run.Misuse(cmd, err)
			}
			return o.Run(cmd.Context())
		},
	}
	o.AddFlags(cmd.Flags())
	// What follows the command is the command's.
	cmd.Flags().SetInterspersed(false)
	return cmd
}
