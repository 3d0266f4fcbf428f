package discovery

import (
	"net"
	"net/http"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	conversion "k8s.io/apiserver/pkg/apis/apidiscovery/v2"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Definitions says what a logical cluster serves besides the built-in groups.
type Definitions interface {
	// Definitions returns the established definitions of a cluster, none if it does
	// not exist. The result is not changed afterwards by either side.
	Definitions(cluster logicalcluster.Name) []schema.Served
}

// Config is what a Discovery needs.
type Config struct {
	// Builtins holds the built-in groups. Required.
	Builtins *Builtins
	// Definitions is asked on each request. Required.
	Definitions Definitions
	// Serializer encodes the documents of the old form and errors. Required.
	Serializer runtime.NegotiatedSerializer
	// Addresses tells clients under which address they reach the server best; nil
	// tells them nothing.
	Addresses discovery.Addresses
	// CacheSize is the number of sets of definitions whose documents are kept. Zero
	// means 256.
	CacheSize int
}

// Discovery serves the discovery documents of all clusters. It may be used
// concurrently.
type Discovery struct {
	config     Config
	documents  *cache
	aggregated runtime.NegotiatedSerializer
	legacyRoot http.Handler
}

// New returns the Discovery that config describes.
func New(config Config) *Discovery {
	if config.Addresses == nil {
		config.Addresses = unknownAddresses{}
	}
	return &Discovery{
		config:     config,
		documents:  newCache(config.CacheSize),
		aggregated: aggregatedSerializer(),
		legacyRoot: discovery.NewLegacyRootAPIHandler(config.Addresses, config.Serializer, "/api"),
	}
}

// Handler serves the discovery documents and passes all other requests on to next. It
// stands behind authorization and before the routes of the generic API server, which
// has documents of its own for the built-in groups.
func (d *Discovery) Handler(next http.Handler) http.Handler {
	return d.handler(next, d.document)
}

// SelectionHandler is Handler for those who are shown no more than a selection, which is
// asked for on each request for a document.
func (d *Discovery) SelectionHandler(next http.Handler, selection func(*http.Request) (schema.Selection, error)) http.Handler {
	return d.handler(next, func(req *http.Request) (*document, error) {
		selected, err := selection(req)
		if err != nil {
			return nil, err
		}
		builtins, err := d.config.Builtins.snapshot()
		if err != nil {
			return nil, err
		}
		return d.documents.selected(builtins, selected)
	})
}

func (d *Discovery) handler(next http.Handler, documentFor func(*http.Request) (*document, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		target, ok := parse(req.URL.Path)
		if !ok {
			next.ServeHTTP(w, req)
			return
		}
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			d.fail(w, req, http.StatusMethodNotAllowed)
			return
		}
		doc, err := documentFor(req)
		if err != nil {
			responsewriters.InternalError(w, req, err)
			return
		}
		d.serve(w, req, doc, target)
	})
}

// target says which document a path means.
type target struct {
	// prefix is "api" or "apis".
	prefix string
	// group and version are empty if the path ends before them.
	group, version string
}

// parse returns the target of a path below /api or /apis, or ok false if the path is
// that of an object or of something else.
func parse(path string) (t target, ok bool) {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	if !strings.HasPrefix(path, "/") {
		return target{}, false
	}
	for _, segment := range segments[1:] {
		if segment == "" {
			return target{}, false
		}
	}
	t.prefix = segments[0]
	switch {
	case t.prefix == "api" && len(segments) == 2:
		t.version = segments[1]
	case t.prefix == "apis" && len(segments) == 2:
		t.group = segments[1]
	case t.prefix == "apis" && len(segments) == 3:
		t.group, t.version = segments[1], segments[2]
	case len(segments) != 1 || t.prefix != "api" && t.prefix != "apis":
		return target{}, false
	}
	return t, true
}

func (d *Discovery) serve(w http.ResponseWriter, req *http.Request, doc *document, t target) {
	switch {
	case t.version != "":
		d.serveVersion(w, req, doc, apischema.GroupVersion{Group: t.group, Version: t.version})
	case t.group != "":
		d.serveGroup(w, req, doc, t.group)
	case t.prefix == "api":
		if !d.serveAggregated(w, req, doc.core) {
			d.legacyRoot.ServeHTTP(w, req)
		}
	default:
		if !d.serveAggregated(w, req, doc.named) {
			d.serveGroups(w, req, doc)
		}
	}
}

// serveAggregated answers clients that ask for an aggregated document and says whether
// the client is one of those.
func (d *Discovery) serveAggregated(w http.ResponseWriter, req *http.Request, a aggregate) bool {
	mediaType, _ := negotiation.NegotiateMediaTypeOptions(req.Header.Get("Accept"), d.aggregated.SupportedMediaTypes(), aggregated.DiscoveryEndpointRestrictions)
	if !aggregated.IsAggregatedDiscoveryGVK(mediaType.Convert) {
		return false
	}
	// Serializing sets the kind on the list, which is one for all requests.
	list := *a.list
	aggregated.ServeHTTPWithETag(&list, a.etag, mediaType.Convert.GroupVersion(), d.aggregated, w, req)
	return true
}

func (d *Discovery) serveGroups(w http.ResponseWriter, req *http.Request, doc *document) {
	// The handler drops the version from the answer for old clients' sake, and adds
	// addresses, which Kubernetes gives for /api only.
	handler := discovery.NewRootAPIsHandler(unknownAddresses{}, d.config.Serializer)
	for _, group := range doc.groups {
		handler.AddGroup(group)
	}
	handler.ServeHTTP(w, req)
}

func (d *Discovery) serveGroup(w http.ResponseWriter, req *http.Request, doc *document, name string) {
	for _, group := range doc.groups {
		if group.Name == name {
			discovery.NewAPIGroupHandler(d.config.Serializer, group).ServeHTTP(w, req)
			return
		}
	}
	d.fail(w, req, http.StatusNotFound)
}

func (d *Discovery) serveVersion(w http.ResponseWriter, req *http.Request, doc *document, gv apischema.GroupVersion) {
	resources, ok := doc.resources[gv]
	if !ok {
		d.fail(w, req, http.StatusNotFound)
		return
	}
	lister := discovery.APIResourceListerFunc(func() []metav1.APIResource { return resources })
	discovery.NewAPIVersionHandler(d.config.Serializer, gv, lister).ServeHTTP(w, req)
}

// fail answers with the Status of a generic error.
func (d *Discovery) fail(w http.ResponseWriter, req *http.Request, code int) {
	err := apierrors.NewGenericServerResponse(code, strings.ToLower(req.Method), apischema.GroupResource{}, "", "", 0, true)
	responsewriters.ErrorNegotiated(err, d.config.Serializer, apischema.GroupVersion{}, w, req)
}

// document returns what is served in the cluster of a request.
func (d *Discovery) document(req *http.Request) (*document, error) {
	builtins, err := d.config.Builtins.snapshot()
	if err != nil {
		return nil, err
	}
	var definitions []schema.Served
	if cluster, ok := logicalcluster.FromContext(req.Context()); ok && !cluster.IsWildcard() {
		definitions = d.config.Definitions.Definitions(cluster)
	}
	return d.documents.get(builtins, definitions)
}

// aggregatedSerializer encodes aggregated documents in all versions clients know.
func aggregatedSerializer() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	utilruntime.Must(apidiscoveryv2.AddToScheme(scheme))
	utilruntime.Must(apidiscoveryv2beta1.AddToScheme(scheme))
	utilruntime.Must(conversion.RegisterConversions(scheme))
	return serializer.NewCodecFactory(scheme)
}

type unknownAddresses struct{}

// ServerAddressByClientCIDRs implements discovery.Addresses.
func (unknownAddresses) ServerAddressByClientCIDRs(net.IP) []metav1.ServerAddressByClientCIDR {
	return nil
}
