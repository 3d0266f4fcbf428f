package catalog

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Handler serves the resources the catalog knows and hands all other requests on to
// builtin. It needs the RequestInfo and the logical cluster in the context.
func (c *Catalog) Handler(builtin http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		info, ok := request.RequestInfoFrom(req.Context())
		if !ok || !info.IsResourceRequest {
			builtin.ServeHTTP(w, req)
			return
		}
		cluster, ok := logicalcluster.FromContext(req.Context())
		if !ok {
			builtin.ServeHTTP(w, req)
			return
		}
		if identityHash, ok := route.Identity(req.Context()); ok {
			c.serveIdentity(w, req, info, cluster, identityHash)
			return
		}
		resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
		served, known := c.Lookup(cluster, resource)
		switch {
		case known && reaches(info, served.Definition):
			c.serve(w, req, info, cluster, served)
		case !known && cluster.IsWildcard() && c.serveMetadata(w, req, info):
		case !known && cluster.IsWildcard() && c.isAmbiguous(resource, info.APIVersion):
			refuse(w, req, info, notFound(info, resource))
		default:
			// Built in, or nothing: what is behind knows how to answer that.
			builtin.ServeHTTP(w, req)
		}
	})
}

// reaches says whether a request is for a version that definition serves and has the
// scope of definition.
func reaches(info *request.RequestInfo, definition *schema.Definition) bool {
	if !definition.Serves(info.APIVersion) {
		return false
	}
	if !definition.Namespaced() {
		return info.Namespace == ""
	}
	return info.Namespace != "" || info.Verb == "list" || info.Verb == "watch"
}

func (c *Catalog) serve(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, cluster logicalcluster.Name, served schema.Served) {
	if cluster.IsWildcard() && info.Verb != "list" && info.Verb != "watch" {
		refuse(w, req, info, apierrors.NewMethodNotSupported(served.Definition.GroupResource(), info.Verb))
		return
	}
	version, err := c.version(served, info.APIVersion)
	if err != nil {
		refuse(w, req, info, err)
		return
	}
	if info.Verb == "watch" {
		ctx, end := c.watches.begin(req.Context(), keyOfWatch(cluster, served))
		defer end()
		req = req.WithContext(ctx)
	}
	c.serveVersion(w, req, info, served, version)
}

// version returns the compiled version of served called name.
func (c *Catalog) version(served schema.Served, name string) (*compiled.Version, error) {
	api, err := c.apis.get(served)
	if err != nil {
		return nil, err
	}
	return api.Version(name)
}

func (c *Catalog) serveVersion(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, served schema.Served, version *compiled.Version) {
	for _, text := range version.Warnings {
		warning.AddWarning(req.Context(), "", text)
	}
	handler, err := c.handlerFor(info, served, version)
	if err != nil {
		refuse(w, req, info, err)
		return
	}
	metrics.InstrumentHandlerFunc(strings.ToUpper(info.Verb), info.APIGroup, info.APIVersion, info.Resource, info.Subresource,
		metrics.CleanScope(info), metrics.APIServerComponent, version.Deprecated, "", handler)(w, req)
}

// refuse answers with err. What is not meant for users becomes an internal error that
// says nothing but that there was one.
func refuse(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		err = &apierrors.StatusError{ErrStatus: status.Status()}
	} else {
		utilruntime.HandleErrorWithContext(req.Context(), err, "Serving a custom resource", "resource", info.Resource, "group", info.APIGroup)
		err = apierrors.NewInternalError(errUnserved)
	}
	groupVersion := apischema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	responsewriters.ErrorNegotiated(err, compiled.Codecs, groupVersion, w, req)
}

var errUnserved = errors.New("the server could not properly serve the resource")
