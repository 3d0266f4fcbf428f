// Command initializer prepares workspaces of a type before they are ready: each gets a
// namespace, a quota for it and an API of the platform. It runs in the workspace of the
// type, that of the current context.
//
//	type.yaml     the type, what its initializer may do, and its account
//	prepare.go    what is done for each workspace
//	../hooks      how workspaces are found, and let go
package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/forkless/kcp/examples/hooks"
)

// typeName is the name of the WorkspaceType.
const typeName = "project"

// kinds are what the controller works with, as the rules in the type have it.
var kinds = hooks.Kinds{
	namespaces:  meta.RESTScopeRoot,
	quotas:      meta.RESTScopeNamespace,
	apiBindings: meta.RESTScopeRoot,
}

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	manager, err := hooks.NewManager(hooks.Initializer, typeName, kinds, prepare)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
