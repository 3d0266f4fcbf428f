package catalog

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Registry returns what serves a resource of cluster in one version: for those who read
// objects as a client would see them, in the same process. It is a NotFound Status if
// nothing does. What it returns shares memory with the watch cache.
func (c *Catalog) Registry(cluster logicalcluster.Name, resource apischema.GroupVersionResource) (rest.Storage, error) {
	served, ok := c.Lookup(cluster, resource.GroupResource())
	if !ok || !served.Definition.Serves(resource.Version) {
		return nil, apierrors.NewNotFound(resource.GroupResource(), "")
	}
	version, err := c.version(served, resource.Version)
	if err != nil {
		return nil, err
	}
	return version.Resource, nil
}

// TypeConverter returns what knows the structure of a kind of cluster, or nil if cluster
// does not define it.
func (c *Catalog) TypeConverter(cluster logicalcluster.Name, kind apischema.GroupVersionKind) managedfields.TypeConverter {
	api, err := c.ofKind(cluster, kind)
	if api == nil || err != nil {
		return nil
	}
	return api.TypeConverter()
}

// Schema returns the OpenAPI schema of a kind of cluster, with all that it refers to in
// it, or nil if cluster does not define it. It is the caller's.
func (c *Catalog) Schema(cluster logicalcluster.Name, kind apischema.GroupVersionKind) (*spec.Schema, error) {
	api, err := c.ofKind(cluster, kind)
	if api == nil || err != nil {
		return nil, err
	}
	return api.Schema(kind.Version)
}

// ofKind returns the compiled definition of a kind that cluster serves, or nil.
func (c *Catalog) ofKind(cluster logicalcluster.Name, kind apischema.GroupVersionKind) (*compiled.API, error) {
	served, ok := c.servedKind(cluster, kind)
	if !ok {
		return nil, nil
	}
	return c.apis.get(served)
}

func (c *Catalog) servedKind(cluster logicalcluster.Name, kind apischema.GroupVersionKind) (schema.Served, bool) {
	for _, served := range c.Definitions(cluster) {
		if served.Definition.GroupKind() == kind.GroupKind() && served.Definition.Serves(kind.Version) {
			return served, true
		}
	}
	return schema.Served{}, false
}
