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

// ServeFrom serves requests to read one of the APIs that every cluster has, in all forms
// that clients may ask for, with objects of a reader in place of those that are stored.
func (c *Catalog) ServeFrom(w http.ResponseWriter, req *http.Request, reader Reader) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok {
		responsewriters.InternalError(w, req, errors.New("serving a request without a resource"))
		return
	}
	resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	served, ok := c.Lookup(logicalcluster.Wildcard, resource)
	if !ok || !served.Definition.Serves(info.APIVersion) || info.Subresource != "" {
		refuse(w, req, info, apierrors.NewGenericServerResponse(http.StatusNotFound, info.Verb, resource, info.Name, "", 0, true))
		return
	}
	version, err := c.version(served, info.APIVersion)
	if err != nil {
		refuse(w, req, info, err)
		return
	}
	var handler http.HandlerFunc
	switch info.Verb {
	case "get":
		handler = handlers.GetResource(reader, version.Scope)
	case "list", "watch":
		handler = handlers.ListResource(reader, reader, version.Scope, info.Verb == "watch", c.config.MinRequestTimeout)
	default:
		refuse(w, req, info, apierrors.NewMethodNotSupported(resource, info.Verb))
		return
	}
	metrics.InstrumentHandlerFunc(strings.ToUpper(info.Verb), info.APIGroup, info.APIVersion, info.Resource, info.Subresource,
		metrics.CleanScope(info), metrics.APIServerComponent, version.Deprecated, "", handler)(w, req)
}
