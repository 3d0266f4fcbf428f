package hooks

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is the name of a logical cluster.
type Cluster string

// Turn is a workspace that waits for the controller, and a client in it. The client is good
// for as long as the workspace waits.
type Turn struct {
	client.Client
	// Cluster is the workspace's logical cluster, Home that of the type.
	Cluster, Home string

	kind           Kind
	entry          string
	logicalCluster *unstructured.Unstructured
}

// Done removes the entry of the type, and no other. The workspace is out of reach then.
func (t *Turn) Done(ctx context.Context) error {
	before := t.logicalCluster.DeepCopy()
	entries, _, err := unstructured.NestedStringSlice(t.logicalCluster.Object, "status", t.kind.list)
	if err != nil {
		return fmt.Errorf("reading what %s waits for: %w", t.Cluster, err)
	}
	others := slices.DeleteFunc(entries, func(entry string) bool { return entry == t.entry })
	if err := unstructured.SetNestedStringSlice(t.logicalCluster.Object, others, "status", t.kind.list); err != nil {
		return err
	}
	// A patch, not an update: others remove their entries at the same time, and what they have
	// removed does not come back by a list that still has it.
	return t.Status().Patch(ctx, t.logicalCluster, client.MergeFrom(before))
}

// worker does work for the workspaces that wait.
type worker struct {
	all  *waiting
	work Work
}

// Reconcile does the work for one workspace, if it still waits.
func (w *worker) Reconcile(ctx context.Context, cluster Cluster) (ctrl.Result, error) {
	turn, err := w.all.turn(cluster)
	if turn == nil || err != nil {
		return ctrl.Result{}, err
	}
	return w.work(ctx, turn)
}
