// Command databases is the controller of an API that many workspaces have bound. It runs in
// the provider's workspace, that of the current context, and serves all consumers through
// one watch: for each Database, in whichever workspace, it writes a Secret with credentials
// there, and says in the status where the database is.
//
//	api.go         the API
//	provider.yaml  the export and its rules
//	endpoints.go   where the consumers are found
//	wildcard.go    one informer for all of them
//	reconcile.go   what is done for each Database
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// export is the name of the APIExport, and of the endpoint slice that comes with it.
const export = "databases"

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		return err
	}
	if err := databases.AddToScheme(types); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  types,
		Cache:   onlyEndpointsOf(export),
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	all := newConsumers(config, types)
	c, err := controller.NewTyped(export, manager, controller.TypedOptions[Request]{Reconciler: &reconciler{consumers: all}})
	if err != nil {
		return err
	}
	// The source runs for as long as the manager does.
	if err := c.Watch(source.TypedFunc[Request](all.start)); err != nil {
		return err
	}
	if err := followEndpoints(manager, all); err != nil {
		return err
	}
	return manager.Start(ctx)
}
