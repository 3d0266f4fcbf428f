// Package kcpplugin is the command "kubectl kcp": offering APIs to other workspaces,
// and binding what others offer. It is a list of commands; each has a package of its
// own.
package kcpplugin

import (
	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/bind"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/bundle"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/claims"
	debugbinding "github.com/forkless/kcp/pkg/cli/kcpplugin/debug/binding"
	debughook "github.com/forkless/kcp/pkg/cli/kcpplugin/debug/hook"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/diff"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/doctor"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/exportinit"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/exports"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/group"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/pull"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/quickstart"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/setup"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/snapshot"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/unbind"
	"github.com/forkless/kcp/pkg/cli/plugin"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/why"
)

// NewPlugin returns the command of the program kubectl-kcp.
func NewPlugin(streams run.Streams) *cobra.Command {
	finder := target.New(streams)
	cmd := group.New("kcp", "Workspaces, and APIs across workspaces",
		ws.New(finder),
		group.New("bind", "Bind what others offer", bind.New(finder)),
		unbind.New(finder),
		claims.New(finder),
		exports.New(finder),
		group.New("debug", "Find out why something is stuck",
			why.NewDebug(finder),
			debugbinding.New(finder),
			debughook.New(finder, hook.Initializer),
			debughook.New(finder, hook.Terminator),
		),
		types.New(finder),
		group.New("crd", "CustomResourceDefinitions and what becomes of them",
			snapshot.New(streams),
			pull.New(finder),
			diff.New(finder),
		),
		group.New("export", "Offer APIs to other workspaces", exportinit.New(finder)),
		quickstart.New(finder),
		setup.New(streams, pluginNames()),
		doctor.New(finder, pluginNames()),
		bundle.New(finder),
	)
	cmd.Example = `  kubectl kcp export init -f config/crd --apply
  kubectl kcp exports :root:platform
  kubectl kcp bind apiexport root:platform:certs`
	cmd = plugin.New(cmd, "kubectl kcp", finder.Flags, finder.Display)
	completion.Attach(cmd, finder)
	return cmd
}
