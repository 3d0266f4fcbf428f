// Package hooks is what controllers of initializers and terminators have in common: they
// find the workspaces that wait for a WorkspaceType of theirs, work inside, and remove the
// entry of the type when they are done.
//
//	endpoints.go  where the workspaces are found: in the status of the type
//	waiting.go    one watch for all that wait
//	turn.go       what a controller does for one of them
//
// Everything is asked of the addresses in the status of the type. A controller needs no
// rights in any workspace but that of the type, which is the one of its kubeconfig.
package hooks

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Kind is what workspaces wait for.
type Kind struct {
	// address is the type of the addresses in the status of a WorkspaceType, list where
	// a LogicalCluster has the entries.
	address, list string
}

// The kinds of hooks.
var (
	Initializer = Kind{address: "initializing", list: "initializers"}
	Terminator  = Kind{address: "terminating", list: "terminators"}
)

// Kinds are those of the objects that a controller reads and writes in workspaces.
type Kinds map[schema.GroupVersionKind]meta.RESTScope

// Work is what a controller does for a workspace that waits. It is called again after an
// error, after a while if the result says so, and when the LogicalCluster changes: it
// begins with finding out what there is. Turn.Done ends it.
type Work func(ctx context.Context, turn *Turn) (ctrl.Result, error)

// NewManager returns a manager that does work for the workspaces that wait for a type in the
// workspace of the current context.
func NewManager(kind Kind, typeName string, kinds Kinds, work Work) (manager.Manager, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	m, err := ctrl.NewManager(config, ctrl.Options{
		Cache:   onlyType(typeName),
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	all := &waiting{kind: kind, config: config, kinds: kinds, running: map[string]*endpoint{}}
	c, err := controller.NewTyped(kind.address, m, controller.TypedOptions[Cluster]{Reconciler: &worker{all, work}})
	if err != nil {
		return nil, err
	}
	// The source runs for as long as the manager does.
	if err := c.Watch(source.TypedFunc[Cluster](all.start)); err != nil {
		return nil, err
	}
	return m, followType(m, all)
}
