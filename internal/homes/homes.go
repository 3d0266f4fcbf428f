package homes

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/home"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Config is what Homes work with. All fields are required but for Buckets.
type Config struct {
	Layer      *storage.Layer
	Clusters   cached.LogicalClusterReader
	Workspaces cached.WorkspaceReader
	Types      *tenancy.Resolver
	Paths      tenancy.Paths
	// Bindings plans the default bindings, and Catalog is told of them and shows homes.
	Bindings *defaultbindings.Planner
	Catalog  *catalog.Catalog
	// Authorizer knows the policy of the cluster in the context.
	Authorizer authorizer.Authorizer
	// Shard is where homes are born.
	Shard birth.Shard
	// RootCA are the certificates that clients trust the server by, in PEM.
	RootCA string
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
	Clock      clock.PassiveClock

	// Buckets is where homes are; nil puts them outside of the tree below root.
	Buckets *home.Buckets
	// RetryAfter is what clients are told to wait for a home.
	RetryAfter time.Duration
}

// Homes are the home workspaces of all users.
type Homes struct {
	config Config
	layout layout
}

// layout knows where homes are.
type layout interface {
	// find returns the home of a user, which may not be ready yet. It is a NotFound Status
	// if there is none, and a refusal if it is somebody else's or cannot be.
	find(ctx context.Context, username string) (*found, error)
	// create makes what is missing of the home of a user.
	create(ctx context.Context, owner user.Info) error
}

// found is a home that there is.
type found struct {
	// workspace is the home as its owner sees it. It is the caller's.
	workspace *tenancyv1alpha1.Workspace
	// since is when it was born.
	since time.Time
}

// refusal is why somebody has no home, in words for him.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// New returns the Homes that config describes.
func New(config Config) *Homes {
	h := &Homes{config: config}
	midwife := &midwife{Config: &h.config}
	if config.Buckets != nil {
		h.layout = &bucketed{midwife: midwife, Buckets: *config.Buckets}
	} else {
		h.layout = &rootless{midwife: midwife, locks: controller.NewClusterLocks()}
	}
	return h
}

// Prepare makes what is there before the first home: the workspace that buckets are in. The
// error says why there cannot be homes.
func (h *Homes) Prepare(ctx context.Context) error {
	if buckets, ok := h.layout.(*bucketed); ok {
		return buckets.prepare(ctx)
	}
	return nil
}

// Expects says whether a path at which there is nothing may lead somewhere once it is known
// who asks: such requests belong to the handler that With returns.
func (h *Homes) Expects(path logicalcluster.Path) bool {
	buckets, ok := h.layout.(*bucketed)
	return ok && buckets.Holds(path)
}

// With is a filter that answers requests for homes. It comes behind impersonation, so that
// the home is that of who was put on, and before authorization, which knows nothing of "~".
func (h *Homes) With(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch path, missing := missingPath(req); {
		case missing:
			h.serveMissing(w, req, path)
		case asksForHome(req):
			h.serveHome(w, req)
		default:
			next.ServeHTTP(w, req)
		}
	})
}
