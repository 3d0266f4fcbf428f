package server

import (
	"net/http"

	"k8s.io/apiserver/pkg/endpoints/filterlatency"
	"k8s.io/apiserver/pkg/endpoints/filters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverfilters "k8s.io/apiserver/pkg/server/filters"

	"github.com/forkless/kcp/internal/authn/impersonation"
	"github.com/forkless/kcp/internal/authn/serviceaccount"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/inflight"
	"github.com/forkless/kcp/internal/route"
)

// chain wraps handler, which serves authorized requests, with everything that comes
// before. It is to be read from the bottom: the last filter sees a request first.
func (s *Server) chain(handler http.Handler, c *genericapiserver.Config) http.Handler {
	builtin := handler
	handler = s.apis(builtin)
	s.hookAPIs = s.hookContent.Handler(handler)
	handler = route.WithWildcardGuard(handler, c.Serializer)
	handler = authz.WithDeepReviews(handler)
	handler = s.virtual.Handler(handler, builtin)

	handler = filterlatency.TrackCompleted(handler)
	handler = filters.WithAuthorization(handler, c.Authorization.Authorizer, c.Serializer)
	handler = filterlatency.TrackStarted(handler, c.TracerProvider, "authorization")

	// A home is asked for by a name that no policy knows.
	handler = s.withHomes(handler)

	// Who uses a virtual workspace takes the seats of his own workspace, and may be
	// whom that one lets him.
	handler = route.AtTarget(handler)
	handler = inflight.With(handler, s.inFlight, c.LongRunningFunc)
	handler = route.WithoutProcessPaths(handler)

	handler = filterlatency.TrackCompleted(handler)
	handler = impersonation.With(handler, s.authorizer.Silent(), c.Serializer)
	handler = route.AtHome(handler)
	// Whom a caller may be there is for mounted servers to say.
	handler = s.withMounts(handler, c)
	handler = filterlatency.TrackStarted(handler, c.TracerProvider, "impersonation")
	handler = filterlatency.TrackCompleted(handler)
	handler = filters.WithAudit(handler, c.AuditBackend, c.AuditPolicyRuleEvaluator, c.LongRunningFunc)
	handler = filterlatency.TrackStarted(handler, c.TracerProvider, "audit")

	unauthorized := filters.Unauthorized(c.Serializer)
	unauthorized = filters.WithFailedAuthenticationAudit(unauthorized, c.AuditBackend, c.AuditPolicyRuleEvaluator)
	if s.options.Observability.TracingConfigFile != "" {
		// Behind authentication, so that only the privileged decide what is recorded.
		handler = filters.WithTracing(handler, c.TracerProvider)
	}
	unauthorized = filterlatency.TrackCompleted(unauthorized)
	handler = filterlatency.TrackCompleted(handler)
	handler = filters.WithAuthentication(handler, c.Authentication.Authenticator, unauthorized,
		c.Authentication.APIAudiences, c.Authentication.RequestHeaderConfig)
	handler = filterlatency.TrackStarted(handler, c.TracerProvider, "authentication")

	handler = serverfilters.WithCORS(handler, c.CorsAllowedOriginList, nil, nil, nil, "true")
	handler = filters.WithWarningRecorder(handler)
	handler = serverfilters.WithTimeoutForNonLongRunningRequests(handler, c.LongRunningFunc)
	handler = filters.WithRequestDeadline(handler, c.AuditBackend, c.AuditPolicyRuleEvaluator, c.LongRunningFunc, c.Serializer, c.RequestTimeout)
	handler = serverfilters.WithWaitGroup(handler, c.LongRunningFunc, c.NonLongRunningRequestWaitGroup)
	handler = serverfilters.WithWatchTerminationDuringShutdown(handler, s.stopping, c.WatchRequestWaitGroup)
	if c.GoawayChance > 0 {
		handler = serverfilters.WithProbabilisticGoaway(handler, c.GoawayChance)
	}
	handler = filters.WithCacheControl(handler)
	handler = serverfilters.WithHSTS(handler, c.HSTSDirectives)
	if c.ShutdownSendRetryAfter {
		handler = serverfilters.WithRetryAfter(handler, s.stopping.ShuttingDown())
	}
	// A line for each request, but from -v=3 on only.
	handler = serverfilters.WithHTTPLogging(handler)
	handler = filters.WithLatencyTrackers(handler)
	handler = s.withoutInactive(handler, c)
	// Outside of what refuses inactive clusters: a watch that is let in just before one goes
	// offline is known when it is cut.
	handler = route.WithConnections(handler, s.connections, c.LongRunningFunc)

	// Upstream's request info sees the URL without the cluster, so routing comes
	// before it, and both before authentication: what is denied later is denied for
	// its place as well.
	handler = route.WithIdentity(handler, c.Serializer)
	handler = filters.WithRequestInfo(handler, c.RequestInfoResolver)
	if c.AuditBackend != nil {
		handler = s.withAuditedCluster(handler)
	}
	virtual := handler
	var routed http.Handler
	again := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { routed.ServeHTTP(w, r) })
	handler = route.WithCluster(handler, s.routeMounts(again, handler), s.resolver, s.expectsHome, s.single(), c.Serializer)
	handler = route.WithVirtualWorkspaces(handler, virtual, s.resolver, s.virtual.Form, c.Serializer)
	routed = handler
	handler = serviceaccount.WithHome(handler)
	// Nothing behind this is right before it is known what there is.
	handler = route.WithoutStarting(handler, s.settled, c.Serializer)
	handler = filters.WithRequestReceivedTimestamp(handler)
	handler = serverfilters.WithPanicRecovery(handler, c.RequestInfoResolver)
	handler = filters.WithAuditInit(handler)
	return s.withCallers(s.use.With(handler))
}

// withoutInactive refuses requests into clusters that are offline. Those to virtual workspaces
// are told so behind authorization.
func (s *Server) withoutInactive(handler http.Handler, c *genericapiserver.Config) http.Handler {
	refusing := route.WithoutInactive(handler, s.logicalClusters, c.Serializer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := route.VirtualFrom(r.Context()); ok {
			handler.ServeHTTP(w, r)
			return
		}
		refusing.ServeHTTP(w, r)
	})
}

// apis puts the APIs that differ between clusters in front of the built-in ones.
func (s *Server) apis(builtin http.Handler) http.Handler {
	return s.discovery.Handler(s.openapi.Handler(s.catalog.Handler(builtin)))
}
