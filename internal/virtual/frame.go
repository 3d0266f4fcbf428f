package virtual

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/path"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Workspace is one kind of virtual workspace.
type Workspace interface {
	// Name is what URLs call it.
	Name() string
	// Segments is how many segments of the URL follow the name.
	Segments() int
	// Authorizer decides about everybody else than masters. It need not know whether the
	// target or the home of a request exists. What it says is shown to clients.
	authorizer.Authorizer
	// Handler serves requests that are allowed, which have a home and a target. builtin
	// serves what is built in.
	Handler(builtin http.Handler) http.Handler
}

// Named is a Workspace whose first segment is no path but a name that says in which
// cluster it belongs. Clusters are given by name in its URLs, too.
type Named interface {
	// Home returns the cluster that a first segment belongs to, the zero Name if that is
	// none.
	Home(segment string) logicalcluster.Name
}

// Config is what a Frame needs. All fields but AlwaysAllowPaths are required.
type Config struct {
	// AlwaysAllowPaths are those that everybody may use, as in package authz.
	AlwaysAllowPaths []string
	// Clusters say which logical clusters have been taken offline.
	Clusters route.Clusters
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Frame holds the virtual workspaces of a server.
type Frame struct {
	config     Config
	open       authorizer.Authorizer
	workspaces map[string]Workspace
}

// New returns a frame without workspaces.
func New(config Config) (*Frame, error) {
	open, err := path.NewAuthorizer(config.AlwaysAllowPaths)
	if err != nil {
		return nil, err
	}
	return &Frame{config: config, open: open, workspaces: map[string]Workspace{}}, nil
}

// Add adds a workspace. It must not be called while requests are served.
func (f *Frame) Add(workspace Workspace) { f.workspaces[workspace.Name()] = workspace }

// Form returns the form of the URLs of a kind; ok is false if there is none of that name.
func (f *Frame) Form(name string) (form route.VirtualForm, ok bool) {
	workspace, ok := f.workspaces[name]
	if !ok {
		return route.VirtualForm{}, false
	}
	form.Segments = workspace.Segments()
	if named, isNamed := workspace.(Named); isNamed {
		form.Home = named.Home
	}
	return form, true
}

// denied is what clients read of refusals that are not explained.
const denied = "access denied"

// Authorizer returns an authorizer for all requests: those to virtual workspaces are
// decided about by these, the others by normal.
func (f *Frame) Authorizer(normal authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
		target, ok := route.VirtualFrom(ctx)
		if !ok {
			return normal.Authorize(ctx, attributes)
		}
		switch user := attributes.GetUser(); {
		case user == nil:
			return authorizer.DecisionDeny, denied, nil
		case identity.IsMaster(user):
			return authorizer.DecisionAllow, "access granted", nil
		}
		workspace, ok := f.workspaces[target.Name]
		if !ok {
			return authorizer.DecisionDeny, notVirtual, nil
		}
		if decision, reason, err := f.open.Authorize(ctx, attributes); decision == authorizer.DecisionAllow {
			return decision, reason, err
		}
		return workspace.Authorize(ctx, attributes)
	})
}

// processPaths are answered by the process and are the same everywhere.
var processPaths = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

// Handler serves authorized requests to virtual workspaces, and hands all others on to
// next. builtin serves what is built in.
func (f *Frame) Handler(next, builtin http.Handler) http.Handler {
	handlers := make(map[string]http.Handler, len(f.workspaces))
	for name, workspace := range f.workspaces {
		handlers[name] = route.WithoutInactive(workspace.Handler(builtin), f.config.Clusters, f.config.Serializer)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		target, ok := route.VirtualFrom(req.Context())
		if !ok {
			next.ServeHTTP(w, req)
			return
		}
		handler, ok := handlers[target.Name]
		_, hasCluster := logicalcluster.FromContext(req.Context())
		switch {
		case ok && slices.Contains(processPaths, req.URL.Path):
			builtin.ServeHTTP(w, req)
		case !ok, !hasCluster, target.Home.Empty():
			f.refuse(w, req)
		default:
			handler.ServeHTTP(w, req)
		}
	})
}
