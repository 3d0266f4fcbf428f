package apiexport

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Stores are what the controller watches.
type Stores struct {
	Exports, Conversions storage.Interface
}

// Controller returns the controller that tells the workspace of changes of exports: it
// knows who provides what, and ends the watches of what is not served any more.
func (w *Workspace) Controller(stores Stores) *controller.Controller {
	return controller.New(controller.Options{
		Name:    "apiexport-virtual-workspace",
		Workers: 1,
		Sources: []controller.Source{
			{Store: stores.Exports, Prefix: cached.APIExports.Prefix(), Keys: controller.OwnKey, Known: w.known},
			{Store: stores.Conversions, Prefix: cached.APIConversions.Prefix(), Keys: w.watchedIn},
		},
		Reconcile: w.reconcile,
	})
}

// known returns the exports that something is remembered of.
func (w *Workspace) known() []controller.Key {
	w.providers.mu.RLock()
	defer w.providers.mu.RUnlock()
	keys := make([]controller.Key, 0, len(w.providers.identities))
	for p := range w.providers.identities {
		keys = append(keys, controller.Key{Cluster: p.cluster, Name: p.name})
	}
	return keys
}

// watchedIn returns the exports in the cluster of obj, a conversion, whose resources are
// being watched: they may be shown by it.
func (w *Workspace) watchedIn(obj runtime.Object) []controller.Key {
	var keys []controller.Key
	for _, own := range controller.OwnKey(obj) {
		for _, watch := range w.watches.of(func(watch *watching) bool { return watch.shows(own.Cluster) }) {
			keys = append(keys, controller.Key{Cluster: watch.export.cluster, Name: watch.export.name})
		}
	}
	return keys
}

// shows says whether what is watched comes from an export in cluster.
func (w *watching) shows(cluster logicalcluster.Name) bool {
	return w.export.cluster == cluster || w.resource.served.Export.Cluster == cluster
}

func (w *Workspace) reconcile(ctx context.Context, key controller.Key) error {
	changed := provider{cluster: key.Cluster, name: key.Name}
	found, err := w.APIs.Export(ctx, key.Cluster, key.Name)
	if ignoreNotFound(err) != nil {
		return err
	}
	identityHash := ""
	if err == nil {
		identityHash = found.Status.IdentityHash
	}
	w.providers.set(changed, identityHash)
	for _, watch := range w.watches.of(func(watch *watching) bool {
		return watch.export == changed || watch.resource.claim != nil && watch.resource.claim.IdentityHash != "" &&
			(watch.resource.claim.IdentityHash == identityHash || watch.shows(key.Cluster))
	}) {
		stays, err := w.stays(ctx, watch)
		if err != nil {
			return err
		}
		if !stays {
			w.watches.end(watch)
		}
	}
	return nil
}

// stays says whether a watch shows what would be shown to one that begins now.
func (w *Workspace) stays(ctx context.Context, watch *watching) (bool, error) {
	found, err := w.APIs.Export(ctx, watch.export.cluster, watch.export.name)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	now, ok, err := w.resource(ctx, export{APIExport: found, cluster: watch.export.cluster}, watch.resource.name)
	if err != nil || !ok {
		return false, err
	}
	before := watch.resource
	if (before.claim == nil) != (now.claim == nil) || before.isBuiltin() != now.isBuiltin() {
		return false, nil
	}
	if before.claim != nil && (before.claim.IdentityHash != now.claim.IdentityHash || before.unasked != now.unasked) {
		return false, nil
	}
	return before.isBuiltin() || before.served.Definition.Hash == now.served.Definition.Hash && before.served.Identity == now.served.Identity, nil
}
