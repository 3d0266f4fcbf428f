package catalog

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Reader holds objects that are shown as those of a resource. They are unstructured, in
// the version that is asked for, and shared.
type Reader interface {
	rest.Getter
	rest.Lister
	rest.Watcher
}

// Registries are what serves a resource.
type Registries struct {
	Resource Reader
	// Status is nil if the status is not served.
	Status rest.Patcher
}

// Registries returns what serves one of the APIs that every cluster has, for those who
// show a part of it with ServeFrom.
func (c *Catalog) Registries(resource apischema.GroupResource, version string) (Registries, error) {
	served, ok := c.Lookup(logicalcluster.Wildcard, resource)
	if !ok {
		return Registries{}, apierrors.NewNotFound(resource, "")
	}
	compiled, err := c.version(served, version)
	if err != nil {
		return Registries{}, err
	}
	return Registries{Resource: compiled.Resource, Status: compiled.Status}, nil
}

// ServeFrom serves requests to read one of the APIs that every cluster has, and to read and
// write its status, in all forms that clients may ask for, by registries other than its
// own. Nothing else is validated or admitted than what these look at.
func (c *Catalog) ServeFrom(w http.ResponseWriter, req *http.Request, registries Registries) {
	c.ServeAs(w, req, logicalcluster.Wildcard, registries)
}

// ServeAs is ServeFrom for one of the APIs of a cluster.
func (c *Catalog) ServeAs(w http.ResponseWriter, req *http.Request, cluster logicalcluster.Name, registries Registries) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok {
		responsewriters.InternalError(w, req, errors.New("serving a request without a resource"))
		return
	}
	resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	served, ok := c.Lookup(cluster, resource)
	if !ok || !reaches(info, served.Definition) || !registries.serve(info.Subresource) {
		refuse(w, req, info, apierrors.NewGenericServerResponse(http.StatusNotFound, info.Verb, resource, info.Name, "", 0, true))
		return
	}
	version, err := c.version(served, info.APIVersion)
	if err != nil {
		refuse(w, req, info, err)
		return
	}
	var handler http.HandlerFunc
	switch {
	case info.Subresource != "":
		handler = subresource(info.Verb, registries.Status, version.StatusScope, nil)
	case info.Verb == "get":
		handler = handlers.GetResource(registries.Resource, version.Scope)
	case info.Verb == "list" || info.Verb == "watch":
		handler = handlers.ListResource(registries.Resource, registries.Resource, version.Scope, info.Verb == "watch", c.config.MinRequestTimeout)
	}
	if handler == nil {
		refuse(w, req, info, apierrors.NewMethodNotSupported(resource, info.Verb))
		return
	}
	metrics.InstrumentHandlerFunc(strings.ToUpper(info.Verb), info.APIGroup, info.APIVersion, info.Resource, info.Subresource,
		metrics.CleanScope(info), metrics.APIServerComponent, version.Deprecated, "", handler)(w, req)
}

// serve says whether a subresource is served, the resource itself being the empty one.
func (r Registries) serve(subresource string) bool {
	return subresource == "" || subresource == "status" && r.Status != nil
}
