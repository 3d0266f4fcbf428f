package apiexport

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/boundcrd"
	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/route"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// APIs reads what apis.kcp.io is made of, from memory. What there is not is a NotFound
// Status.
type APIs interface {
	Export(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error)
	// CurrentExport and CurrentBindings do not lag behind what a client has just read.
	CurrentExport(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error)
	CurrentBindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error)
	Schema(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error)
	Conversion(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIConversion, error)
	Bindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error)
}

// Policy knows the maximal permission policies of exports.
type Policy interface {
	// MaximalPermission says whether the policy in the workspace of an export allows a user
	// what attributes ask for.
	MaximalPermission(ctx context.Context, cluster logicalcluster.Name, u user.Info, attributes authorizer.Attributes) bool
}

// Config is what a Workspace needs. All fields are required.
type Config struct {
	APIs        APIs
	Definitions *boundcrd.Definitions
	Identities  *boundcrd.Identities
	// Reserved says whether every cluster has a resource without binding it. Exports may
	// be written that offer another one of the name, but nobody can bind these.
	Reserved  func(apischema.GroupResource) bool
	Catalog   *catalog.Catalog
	Discovery *discovery.Discovery
	OpenAPI   *openapi.OpenAPI
	// Authorizer knows the policy of the cluster in the context.
	Authorizer authorizer.Authorizer
	Policy     Policy
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Workspace is the virtual workspace of all exports.
type Workspace struct {
	Config
	providers *providers
	watches   *watches
}

// New returns the virtual workspace that config describes. It needs its controller to run.
func New(config Config) *Workspace {
	return &Workspace{Config: config, providers: newProviders(), watches: newWatches()}
}

// Name implements virtual.Workspace.
func (*Workspace) Name() string { return "apiexport" }

// Segments implements virtual.Workspace: the cluster and the name of the export.
func (*Workspace) Segments() int { return 2 }

// export is an APIExport with the cluster that it is in. It is shared and must not be
// changed.
type export struct {
	*apisv1alpha2.APIExport
	cluster logicalcluster.Name
}

// exportOf returns the export that a request is to. ok is false if there is none that can
// be served: without an identity nobody can have bound it.
func (w *Workspace) exportOf(ctx context.Context) (_ export, ok bool, _ error) {
	target, ok := route.VirtualFrom(ctx)
	if !ok || target.Home.Empty() || len(target.Segments) != w.Segments() {
		return export{}, false, nil
	}
	found, err := w.APIs.Export(ctx, target.Home, target.Segments[1])
	if apierrors.IsNotFound(err) || err == nil && found.Status.IdentityHash == "" {
		// Who has just read that it is ready may use it at once.
		found, err = w.APIs.CurrentExport(ctx, target.Home, target.Segments[1])
	}
	switch {
	case apierrors.IsNotFound(err):
		return export{}, false, nil
	case err != nil:
		return export{}, false, err
	}
	return export{APIExport: found, cluster: target.Home}, found.Status.IdentityHash != "", nil
}

// Handler implements virtual.Workspace.
func (w *Workspace) Handler(builtin http.Handler) http.Handler {
	objects := &objects{Workspace: w, builtin: builtin}
	documents := w.Discovery.SelectionHandler(w.OpenAPI.SelectionHandler(objects, w.selection), w.selection)
	return http.HandlerFunc(func(writer http.ResponseWriter, req *http.Request) {
		_, ok, err := w.exportOf(req.Context())
		switch {
		case err != nil:
			w.fail(writer, req, err)
		case !ok:
			w.notFound(writer, req)
		default:
			documents.ServeHTTP(writer, req)
		}
	})
}
