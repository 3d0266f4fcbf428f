package catalog

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// guestGrace is how long what a request was served with, and nobody has, is kept for the
// next one: who lists is likely to watch.
const guestGrace = time.Minute

// Serve serves a request for objects of what is served, whatever the cluster of the request
// has: in the wildcard cluster those of all clusters that have bound it. It need not be
// bound by any; there are no objects then. The caller has found out that the request may
// see them.
//
// What it takes to serve is there for as long as there are requests, and goes with the
// last one if no cluster has it.
func (c *Catalog) Serve(w http.ResponseWriter, req *http.Request, served schema.Served) {
	info, ok := request.RequestInfoFrom(req.Context())
	cluster, hasCluster := logicalcluster.FromContext(req.Context())
	switch {
	case !ok || !hasCluster:
		responsewriters.InternalError(w, req, errors.New("serving a request without a resource or a cluster"))
		return
	case !reaches(info, served.Definition):
		groupVersion := apischema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
		err := apierrors.NewGenericServerResponse(http.StatusNotFound, info.Verb, served.Definition.GroupResource(), info.Name, "", 0, true)
		responsewriters.ErrorNegotiated(err, compiled.Codecs, groupVersion, w, req)
		return
	}
	served = c.enter(served)
	defer c.leave(served)
	c.serve(w, req, info, cluster, served)
}

// enter keeps what is served in use until leave is called with what it returns.
func (c *Catalog) enter(served schema.Served) schema.Served {
	c.index.mu.Lock()
	defer c.index.mu.Unlock()
	served.Definition = c.index.use(served.Definition, served.Identity)
	return served
}

// leave undoes enter, at once where others use what is served and later otherwise.
func (c *Catalog) leave(served schema.Served) {
	if c.index.isLast(served) {
		time.AfterFunc(c.guestGrace, func() { c.forget(served) })
		return
	}
	c.forget(served)
}

// forget uses what is served once less, and drops what is derived from it if that was the
// last use.
func (c *Catalog) forget(served schema.Served) {
	c.index.mu.Lock()
	dropped := c.index.drop(served.Definition, served.Identity)
	c.index.mu.Unlock()
	if dropped == nil {
		return
	}
	c.apis.drop(dropped, served.Identity)
	c.closeUnused(resourceOf(served))
}

// isLast says whether there is no other use of what is served.
func (x *index) isLast(served schema.Served) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	interned := x.definitions[apiKey{hash: served.Definition.Hash, identity: served.Identity}]
	return interned != nil && interned.uses == 1
}
