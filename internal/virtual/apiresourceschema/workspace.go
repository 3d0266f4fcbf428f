package apiresourceschema

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/discovery"
	"github.com/forkless/kcp/internal/openapi"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/virtual"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// APIs reads bindings and schemas from memory. What there is not is a NotFound Status.
type APIs interface {
	Schema(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error)
	Bindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error)
}

// Config is what a Workspace needs. All fields are required.
type Config struct {
	APIs      APIs
	Catalog   *catalog.Catalog
	Discovery *discovery.Discovery
	OpenAPI   *openapi.OpenAPI
	// Authorizer knows the policy of the cluster in the context.
	Authorizer authorizer.Authorizer
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Workspace is the virtual workspace of the schemas of all workspaces.
type Workspace struct{ Config }

// New returns the virtual workspace that config describes.
func New(config Config) *Workspace { return &Workspace{Config: config} }

// Name implements virtual.Workspace.
func (*Workspace) Name() string { return "apiresourceschema" }

// Segments implements virtual.Workspace: the cluster that has bound.
func (*Workspace) Segments() int { return 1 }

var (
	resource = apisv1alpha1.Resource("apiresourceschemas")
	verbs    = []string{"get", "list", "watch"}
)

const denied = "access denied"

// Authorize implements virtual.Workspace.
func (w *Workspace) Authorize(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	target, _ := route.VirtualFrom(ctx)
	cluster, ok := logicalcluster.FromContext(ctx)
	switch {
	case !ok, target.Home.Empty(), cluster != target.Home && !cluster.IsWildcard():
		return authorizer.DecisionDeny, denied, nil
	case attributes.IsResourceRequest() && !slices.Contains(verbs, attributes.GetVerb()):
		return authorizer.DecisionDeny, denied, nil
	}
	reading := authorizer.AttributesRecord{
		User:            attributes.GetUser(),
		Verb:            "get",
		APIGroup:        apisv1alpha2.GroupName,
		APIVersion:      apisv1alpha2.GroupVersion.Version,
		Resource:        "apibindings",
		ResourceRequest: true,
	}
	decision, _, err := w.Authorizer.Authorize(logicalcluster.NewContext(ctx, target.Home), reading)
	if decision != authorizer.DecisionAllow {
		return authorizer.DecisionDeny, denied, err
	}
	return decision, "access granted", nil
}

// Handler implements virtual.Workspace.
func (w *Workspace) Handler(http.Handler) http.Handler {
	documents := w.Discovery.SelectionHandler(w.OpenAPI.SelectionHandler(http.HandlerFunc(w.serve), w.selection), w.selection)
	return http.HandlerFunc(func(writer http.ResponseWriter, req *http.Request) {
		target, _ := route.VirtualFrom(req.Context())
		cluster, _ := logicalcluster.FromContext(req.Context())
		if cluster != target.Home && !cluster.IsWildcard() {
			// Only masters come here.
			virtual.NotFound(writer, req, w.Serializer)
			return
		}
		documents.ServeHTTP(writer, req)
	})
}

func (w *Workspace) selection(*http.Request) (schema.Selection, error) {
	served, _ := w.Catalog.Lookup(logicalcluster.Wildcard, resource)
	return schema.Selection{
		Definitions: []schema.Served{served},
		Shown:       []schema.Shown{{Resource: resource, Verbs: verbs}},
	}, nil
}

func (w *Workspace) serve(writer http.ResponseWriter, req *http.Request) {
	info, ok := request.RequestInfoFrom(req.Context())
	if !ok || !info.IsResourceRequest || info.APIGroup != resource.Group || info.Resource != resource.Resource {
		virtual.NotFound(writer, req, w.Serializer)
		return
	}
	target, _ := route.VirtualFrom(req.Context())
	w.Catalog.ServeFrom(writer, req, catalog.Registries{Resource: &reader{apis: w.APIs, cluster: target.Home}})
}
