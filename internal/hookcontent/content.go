package hookcontent

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/route"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Clusters reads LogicalClusters as they are in storage. A missing one is a NotFound
// Status error.
type Clusters interface {
	GetCurrent(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
}

// Types reads WorkspaceTypes as they are in storage. A missing one is a NotFound Status
// error.
type Types interface {
	GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error)
}

// Recorder remembers when and by whom something was written for a hook.
type Recorder interface {
	// Record is called after a write in cluster for hook by user has succeeded. It must
	// not take long, and has nobody to tell of its failure.
	Record(ctx context.Context, cluster logicalcluster.Name, hook tenancy.Hook, user string)
}

// Config is what a Content needs. All fields but Recorder are required.
type Config struct {
	Clusters Clusters
	Types    Types
	// Authorizer decides about requests to the cluster in the context.
	Authorizer authorizer.Authorizer
	// Recorder may be nil.
	Recorder Recorder
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Content gives hooks access to the content of workspaces.
type Content struct {
	Config
	running *running
}

// New returns the Content that config describes. It needs its controller to run.
func New(config Config) *Content { return &Content{Config: config, running: newRunning()} }

// Handler serves requests to virtual workspaces of hooks, whose callers may act for the
// hook of the URL. api serves authorized requests to the cluster in the context.
func (c *Content) Handler(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		a, err := c.newAttempt(req)
		if err != nil {
			c.fail(w, req, err)
			return
		}
		// Known before it is decided about, so that no change in between goes unheard.
		ctx, end := c.running.begin(req.Context(), a)
		defer end()
		req = req.WithContext(ctx)
		turn, err := c.decide(ctx, a)
		if refused := context.Cause(ctx); err != nil && refused != nil {
			err = refused
		}
		if err != nil {
			c.fail(w, req, err)
			return
		}
		a.granted.Store(turn)
		c.serve(w, req, api, a, turn)
	})
}

// serve serves a request of a hook whose turn it is.
func (c *Content) serve(w http.ResponseWriter, req *http.Request, api http.Handler, a *attempt, t *turn) {
	acting := t.takeOver(req)
	attributes, err := filters.GetAuthorizerAttributes(acting.Context())
	if err != nil {
		responsewriters.InternalError(w, req, err)
		return
	}
	decision, reason, err := c.Authorizer.Authorize(acting.Context(), attributes)
	switch {
	case decision == authorizer.DecisionAllow:
	case err != nil:
		responsewriters.InternalError(w, req, err)
		return
	default:
		responsewriters.Forbidden(attributes, w, req, reason, c.Serializer)
		return
	}
	if !a.isWrite() || c.Recorder == nil {
		api.ServeHTTP(w, acting)
		return
	}
	watched, outcome := withOutcome(w)
	api.ServeHTTP(watched, acting)
	if outcome.succeeded() {
		c.Recorder.Record(req.Context(), a.cluster, a.hook, a.caller.GetName())
	}
}

// newAttempt takes a request apart. The error says why there is nothing at its URL.
func (c *Content) newAttempt(req *http.Request) (*attempt, error) {
	ctx := req.Context()
	target, ok := route.VirtualFrom(ctx)
	cluster, hasCluster := logicalcluster.FromContext(ctx)
	if !ok || len(target.Segments) != 1 || !hasCluster || cluster.Empty() || cluster.IsWildcard() || cluster.IsSystem() {
		return nil, notFound()
	}
	kind, ok := kindOf(target.Name)
	if !ok {
		return nil, notFound()
	}
	hook, err := tenancy.ParseHook(kind, target.Segments[0])
	if err != nil {
		return nil, notFound()
	}
	info, ok := request.RequestInfoFrom(ctx)
	if !ok {
		return nil, errors.New("a request without its info")
	}
	attributes, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return nil, err
	}
	if attributes.GetUser() == nil {
		return nil, errors.New("a request without a user")
	}
	if err := reachable(req, info); err != nil {
		return nil, err
	}
	return &attempt{hook: hook, cluster: cluster, caller: attributes.GetUser(), info: info, attributes: attributes, dry: isDry(req)}, nil
}

// kindOf returns the kind of hooks that a virtual workspace is for.
func kindOf(name string) (tenancy.HookKind, bool) {
	for _, kind := range []tenancy.HookKind{tenancy.Initializing, tenancy.Terminating} {
		if name == kind.VirtualWorkspace() {
			return kind, true
		}
	}
	return "", false
}

// notFound is the answer where there is nothing.
func notFound() error { return refuse(http.StatusNotFound, "", "404 page not found") }

// fail answers with what went wrong: the text of a refusal, or a Status.
func (c *Content) fail(w http.ResponseWriter, req *http.Request, err error) {
	var refused *refusal
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &refused):
		refused.answer(w, req)
	case errors.As(err, &status):
		responsewriters.RespondWithError(w, req, err, c.Serializer)
	default:
		responsewriters.InternalError(w, req, err)
	}
}
