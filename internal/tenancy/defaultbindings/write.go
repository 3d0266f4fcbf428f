package defaultbindings

import (
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Catalog is told what bindings give.
type Catalog interface {
	Bind(cluster logicalcluster.Name, binding string, version uint64, served []schema.Served)
	Unbind(cluster logicalcluster.Name, binding string)
}

// AddTo adds the bindings that are missing, and those that change, to a batch.
func (p *Plan) AddTo(batch *storage.Batch) {
	for i := range p.Bindings {
		batch.Create(cached.APIBindings, p.Cluster, p.Bindings[i].Object)
	}
	for _, changed := range p.Changed {
		batch.Update(cached.APIBindings, p.Cluster, changed)
	}
}

// Announce tells the catalog what the bindings give: with version 0 before they are
// written, with the version they have afterwards.
func (p *Plan) Announce(catalog Catalog, version uint64) {
	for i := range p.Bindings {
		if len(p.Bindings[i].Served) > 0 {
			catalog.Bind(p.Cluster, p.Bindings[i].Object.Name, version, p.Bindings[i].Served)
		}
	}
}

// Withdraw takes back what Announce has told before the bindings were to be written. What
// has been written all the same, the controller of APIBindings tells.
func (p *Plan) Withdraw(catalog Catalog) {
	for i := range p.Bindings {
		if len(p.Bindings[i].Served) > 0 {
			catalog.Unbind(p.Cluster, p.Bindings[i].Object.Name)
		}
	}
}
