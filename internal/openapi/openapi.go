package openapi

import (
	"net/http"
	"strings"

	"github.com/emicklei/go-restful/v3"

	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/kube-openapi/pkg/common"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Definitions says what a logical cluster serves besides the built-in APIs.
type Definitions interface {
	// Definitions returns the established definitions of a cluster, none if it does
	// not exist. The result is not changed afterwards by either side.
	Definitions(cluster logicalcluster.Name) []schema.Served
}

// Config is what an OpenAPI needs. All fields but the last two are required.
type Config struct {
	// Routes returns the routes of the built-in APIs. It is called at the first
	// request, when all of them are installed.
	Routes func() []*restful.WebService
	// V2 and V3 say how to describe the routes.
	V2 *common.Config
	V3 *common.OpenAPIV3Config
	// Definitions is asked on each request.
	Definitions Definitions

	// DocumentBytes and FragmentBytes bound what is kept of encoded documents,
	// compressed, and of the parts they are made of, not compressed. Zero means 8 MiB
	// and 6 MiB.
	DocumentBytes, FragmentBytes int
}

const (
	defaultDocumentBytes = 8 << 20
	defaultFragmentBytes = 6 << 20
)

// OpenAPI serves the OpenAPI documents of all clusters. It may be used concurrently.
type OpenAPI struct {
	config    Config
	builtins  *builtins
	documents *cache[compressed]
	fragments *cache[fragment]
}

// New returns the OpenAPI that config describes.
func New(config Config) *OpenAPI {
	if config.DocumentBytes == 0 {
		config.DocumentBytes = defaultDocumentBytes
	}
	if config.FragmentBytes == 0 {
		config.FragmentBytes = defaultFragmentBytes
	}
	o := &OpenAPI{
		config:    config,
		documents: newCache(config.DocumentBytes, func(c compressed) int { return len(c) }),
		fragments: newCache(config.FragmentBytes, fragment.weight),
	}
	o.builtins = &builtins{config: &o.config}
	return o
}

// Handler serves the documents below /openapi and passes all other requests on to next.
// It stands behind authorization.
func (o *OpenAPI) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimSuffix(req.URL.Path, "/")
		group, inV3 := strings.CutPrefix(path, "/openapi/v3/")
		switch {
		case path != "/openapi/v2" && path != "/openapi/v3" && !inV3:
			next.ServeHTTP(w, req)
		case req.Method != http.MethodGet && req.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		case path == "/openapi/v2":
			o.serveV2(w, req)
		case path == "/openapi/v3":
			o.serveIndex(w, req, o.everything(req))
		default:
			o.serveV3(w, req, group, o.everything(req))
		}
	})
}

// SelectionHandler serves the documents below /openapi/v3 to those who are shown no more
// than a selection, which is asked for on each request for a document. It passes all other
// requests on to next.
func (o *OpenAPI) SelectionHandler(next http.Handler, selection func(*http.Request) (schema.Selection, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := strings.TrimSuffix(req.URL.Path, "/")
		group, inV3 := strings.CutPrefix(path, "/openapi/v3/")
		switch {
		case path != "/openapi/v3" && !inV3:
			next.ServeHTTP(w, req)
			return
		case req.Method != http.MethodGet && req.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
			return
		}
		selected, err := selection(req)
		switch {
		case err != nil:
			responsewriters.InternalError(w, req, err)
		case inV3:
			o.serveV3(w, req, group, selectedContent(selected))
		default:
			o.serveIndex(w, req, selectedContent(selected))
		}
	})
}

// definitions returns those of the request's cluster. ok is false if the request has no
// single cluster.
func (o *OpenAPI) definitions(req *http.Request) (definitions []schema.Served, ok bool) {
	cluster, ok := logicalcluster.FromContext(req.Context())
	if !ok || cluster.IsWildcard() {
		return nil, false
	}
	return o.config.Definitions.Definitions(cluster), true
}
