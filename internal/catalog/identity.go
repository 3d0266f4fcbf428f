package catalog

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// serveIdentity serves a request that names the identity of an export beside the resource:
// in a cluster what it has bound from such an export, and nothing else that it may have of
// the name; in the wildcard cluster what all clusters have bound from such exports.
func (c *Catalog) serveIdentity(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, cluster logicalcluster.Name, identityHash string) {
	resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	served, ok := c.withIdentity(cluster, resource, info.APIVersion, identityHash)
	if !ok || !reaches(info, served.Definition) {
		refuse(w, req, info, notFound(info, resource))
		return
	}
	c.serve(w, req, info, cluster, served)
}

// isAmbiguous says whether some clusters have a resource, each its own or that of an
// export, so that across all it means nothing without an identity.
func (c *Catalog) isAmbiguous(resource apischema.GroupResource, version string) bool {
	_, _, ok := c.index.anyOf(resource, version)
	return ok
}

// notFound says that there is no such resource, as a Status and as upstream says it.
func notFound(info *request.RequestInfo, resource apischema.GroupResource) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, info.Verb, resource, info.Name, "", 0, true)
}

func (c *Catalog) withIdentity(cluster logicalcluster.Name, resource apischema.GroupResource, version, identityHash string) (schema.Served, bool) {
	if cluster.IsWildcard() {
		return c.index.withIdentity(resource, identityHash, version)
	}
	served, ok := c.Lookup(cluster, resource)
	return served, ok && served.IsBound() && served.Export.IdentityHash == identityHash
}
